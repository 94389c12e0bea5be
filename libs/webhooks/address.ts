import ipaddr from 'ipaddr.js';

export interface AddressPolicy {
  /** Development on one machine: loopback receivers, also over plain HTTP. */
  allowLoopback: boolean;
  /** Networks (CIDR) that may be dialled although they are not public. */
  allowedNetworks: readonly string[];
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** Public by range, yet answered by the host of a virtual machine. Source: the cloud provider's own address plan. */
const platformServices = new Set(['168.63.129.16']);

/** Why this address must not be dialled, or null if it may be. Mapped, translated and tunnelled forms are refused as such. */
export function refuseAddress(text: string, policy: AddressPolicy): string | null {
  if (!ipaddr.isValid(text)) return 'not an address';
  const address = ipaddr.parse(text);
  if (isInside(address, policy.allowedNetworks)) return null;
  const range = address.range();
  if (range === 'loopback' && policy.allowLoopback) return null;
  if (platformServices.has(text)) return 'platform service';
  if (range !== 'unicast') return range;
  if (address.kind() === 'ipv6' && !(address as ipaddr.IPv6).match(globalUnicast)) return 'not global unicast';
  return null;
}

export function isLoopback(text: string): boolean {
  return ipaddr.isValid(text) && ipaddr.parse(text).range() === 'loopback';
}

function isInside(address: Address, networks: readonly string[]): boolean {
  return networks.some((network) => {
    const [base, bits] = ipaddr.parseCIDR(network);
    return base.kind() === address.kind() && address.match(base as never, bits);
  });
}

/** The policy of a process: loopback opens in staging on one machine only. */
export function addressPolicy(config: { environment: string; local: boolean; webhookAllowedNetworks: readonly string[] }): AddressPolicy {
  return { allowLoopback: config.local && config.environment === 'staging', allowedNetworks: config.webhookAllowedNetworks };
}
