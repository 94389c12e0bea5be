/** Types that reach only endpoints which name them: a wildcard does not. */
const sensitivePrefixes = ['user.', 'user_login.', 'invite.', 'api_token.'];

function isSensitive(type: string): boolean {
  return sensitivePrefixes.some((prefix) => type.startsWith(prefix));
}

/**
 * Whether an endpoint subscribed to `enabledEvents` hears an event of `type`. `*` and `all` mean every type that is not
 * sensitive, `x.*` a prefix, anything else one exact type.
 */
export function matchesEvent(enabledEvents: readonly string[], type: string): boolean {
  return enabledEvents.some((pattern) => {
    if (pattern === type) return true;
    if (pattern === '*' || pattern === 'all') return !isSensitive(type);
    return pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1));
  });
}
