/**
 * Secrets that stand in examples and are therefore known to everybody. Production refuses each of them; staging takes
 * them so that an example can be tried as it is.
 */
export const developmentSecretKey = Buffer.from('signalbox-development-secret-key').toString('base64');
export const developmentTokenKey = Buffer.from('signalbox-development-token-key!').toString('base64');
export const developmentDatabasePassword = 'signalbox-development';

const known = new Set([developmentSecretKey, developmentTokenKey]);

/** Base64 of a key that is published, or so regular that nobody drew it at random (fewer than 8 different bytes). */
export function isDevelopmentKey(base64: string): boolean {
  const bytes = Buffer.from(base64, 'base64');
  return known.has(bytes.toString('base64')) || new Set(bytes).size < 8;
}

export function isDevelopmentPassword(password: string): boolean {
  return password === developmentDatabasePassword;
}
