/** Roles of tokens, smallest first; each may do what the ones before it may. */
export const roles = ['READ_ONLY', 'OPERATOR', 'ADMIN'] as const;
export type Role = (typeof roles)[number];

export function atLeast(role: Role, minimum: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(minimum);
}
