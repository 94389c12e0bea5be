export const environments = ['production', 'staging'] as const;
export type Environment = (typeof environments)[number];

/** The marker inside every id and token. */
export const environmentMarker: Record<Environment, 'prod' | 'stg'> = { production: 'prod', staging: 'stg' };
