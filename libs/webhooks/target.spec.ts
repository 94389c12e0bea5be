import { refuseAddress } from './address.js';
import { refuseTarget } from './target.js';

const strict = { allowLoopback: false, allowedNetworks: [] };
const local = { allowLoopback: true, allowedNetworks: [] };

describe('the guard against requests into our own networks', () => {
  it.each([
    '0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '100.100.100.200', '127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1', '192.0.0.1', '192.0.2.1',
    '192.88.99.1', '192.168.1.1', '198.18.0.1', '198.19.255.255', '198.51.100.7', '203.0.113.9', '224.0.0.1', '240.0.0.1', '255.255.255.255', '168.63.129.16',
    '::', '::1', '::7f00:1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '64:ff9b::7f00:1', '64:ff9b:1::1', '100::1', '2001::1', '2001:2::1', '2001:db8::1', '2002:7f00:1::1',
    '3fff::1', '5f00::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', 'fec0::1', 'ff02::1', '4000::1', 'not-an-address',
  ])('refuses to dial %s', (address) => {
    expect(refuseAddress(address, strict)).not.toBeNull();
  });

  it.each(['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450:4001:800::200e'])('dials %s', (address) => {
    expect(refuseAddress(address, strict)).toBeNull();
  });

  it('opens loopback in development, and a network on the allow-list, and nothing beside them', () => {
    expect(refuseAddress('127.0.0.1', local)).toBeNull();
    expect(refuseAddress('::1', local)).toBeNull();
    expect(refuseAddress('::ffff:127.0.0.1', local)).not.toBeNull();
    expect(refuseAddress('10.0.0.1', local)).not.toBeNull();
    const listed = { allowLoopback: false, allowedNetworks: ['10.1.0.0/16', 'fd00::/8'] };
    expect(refuseAddress('10.1.2.3', listed)).toBeNull();
    expect(refuseAddress('fd00::1', listed)).toBeNull();
    expect(refuseAddress('10.2.0.1', listed)).not.toBeNull();
  });

  it.each([
    'https://127.0.0.1/', 'https://0177.0.0.1/', 'https://0x7f.1/', 'https://2130706433/', 'https://127.1/', 'https://127.0.0.1./', 'https://[::1]/', 'https://[::ffff:7f00:1]/',
    'https://[64:ff9b::a9fe:a9fe]/', 'https://169.254.169.254/latest', 'https://localhost/', 'https://localhost./', 'https://a.localhost/', 'https://①②⑦.0.0.1/',
    'https://user@example.com/', 'https://user:pw@example.com/', 'https://example.com:0/', 'http://example.com/', 'ftp://example.com/', 'file:///etc/passwd', 'javascript:alert(1)',
    'https://', 'example.com', '/hook', '', 'https://exa mple.com/', 'https://example.com\\@127.0.0.1/', 'https://example.com/#f', `https://example.com/${'a'.repeat(2048)}`,
  ])('refuses %s at registration', (url) => {
    expect(refuseTarget(url, strict)).not.toBeNull();
  });

  it.each(['https://example.com/', 'https://example.com:8443/hook?x=1', 'https://8.8.8.8/', 'https://[2606:4700:4700::1111]/'])('takes %s', (url) => {
    expect(refuseTarget(url, strict)).toBeNull();
  });

  it('takes plain HTTP for loopback only, in development only', () => {
    for (const url of ['http://127.0.0.1:8080/', 'http://localhost:8080/', 'http://[::1]:8080/']) {
      expect(refuseTarget(url, local)).toBeNull();
      expect(refuseTarget(url, strict)).not.toBeNull();
    }
    expect(refuseTarget('http://example.com/', local)).not.toBeNull();
    expect(refuseTarget('http://192.168.0.1/', local)).not.toBeNull();
  });
});
