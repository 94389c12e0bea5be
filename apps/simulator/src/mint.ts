import { randomUUID } from 'node:crypto';

export function mint(prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll('-', '')}`;
}
