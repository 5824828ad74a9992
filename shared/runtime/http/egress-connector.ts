import { BlockList, isIP, isIPv4, isIPv6, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import { SPECIAL_ADDRESSES } from '#shared/contracts/special-addresses.ts'
import type { ResolveAll } from './egress-resolver.ts'

/** Timings of one connection; `dnsMs`, `connectMs` and `tlsMs` belong to its first request. */
export interface ConnectionFacts {
  readonly ip: string
  readonly dnsMs: number
  readonly connectMs: number
  readonly tlsMs: number | null
}

/** The name resolves to an address that must not be called; nothing was sent. */
export class BlockedAddress extends Error {
  override readonly name = 'BlockedAddress'
}

/** The name has no address at this moment. */
export class NameNotResolved extends Error {
  override readonly name = 'NameNotResolved'
}

export interface EgressConnectorOptions {
  readonly resolve: ResolveAll
  readonly isAllowed: (address: string) => boolean
  readonly connectTimeoutMs: number
  /** Called for each new connection before its first request. */
  readonly onConnected: (socket: Socket, facts: ConnectionFacts) => void
  /** Extra certificate authority (PEM), for tests. */
  readonly ca?: string | undefined
}

/**
 * A connector for undici that decides at the moment of connecting: it resolves the name itself, refuses when any address
 * is not allowed, connects to exactly the checked address (SNI and certificate check keep the name), and checks the
 * socket's real peer before anything is sent. IP literals are checked the same way.
 */
export function createEgressConnector(options: EgressConnectorOptions): buildConnector.connector {
  const tls = options.ca === undefined ? {} : { ca: options.ca }
  const connect = buildConnector({ timeout: options.connectTimeoutMs, keepAlive: true, allowH2: false, ...tls })
  return (target, callback) => {
    const hostname = target.hostname.replace(/^\[(.*)\]$/, '$1')
    const startedAt = performance.now()
    withinMs(vettedAddresses(hostname, options), options.connectTimeoutMs).then(
      (addresses) => {
        const dnsMs = performance.now() - startedAt
        connectFirst(
          { connect, options, dnsMs, target: { ...target, ...serverName(target, hostname) } },
          addresses,
          callback,
        )
      },
      (error: Error) => {
        callback(error, null)
      },
    )
  }
}

/** `ETIMEDOUT` like a socket error: a hanging look-up must not occupy a slot in the pool. */
function withinMs<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(Object.assign(new Error('the name look-up timed out'), { code: 'ETIMEDOUT' }))
    const timer = setTimeout(late, timeoutMs)
    timer.unref()
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** The addresses that may be called, or an error when there is none or when one of them is not allowed. */
async function vettedAddresses(hostname: string, options: EgressConnectorOptions): Promise<readonly string[]> {
  const addresses = await resolveAll(hostname, options.resolve)
  if (addresses.length === 0) throw new NameNotResolved(hostname)
  if (!addresses.every(options.isAllowed)) throw new BlockedAddress(hostname)
  return addresses
}

async function resolveAll(hostname: string, resolve: ResolveAll): Promise<readonly string[]> {
  try {
    return await resolve(hostname)
  } catch (cause) {
    throw new NameNotResolved(hostname, { cause })
  }
}

interface Dial {
  readonly connect: buildConnector.connector
  readonly options: EgressConnectorOptions
  readonly dnsMs: number
  readonly target: buildConnector.Options
}

/** Two addresses are tried at most: a name with many dead ones must not use up the deadline of the request. */
function connectFirst(dial: Dial, addresses: readonly string[], callback: buildConnector.Callback): void {
  const { connect, options, dnsMs, target } = dial
  const [address, ...others] = addresses.slice(0, 2)
  if (address === undefined) throw new NameNotResolved(target.hostname)
  const startedAt = performance.now()
  let connectedAt: number | null = null
  const socket: unknown = connect({ ...target, hostname: address }, (error, connected) => {
    if (error !== null && others.length > 0) {
      connectFirst(dial, others, callback)
      return
    }
    // undici omits the second argument on an error.
    if (!connected) {
      callback(error ?? new NameNotResolved(target.hostname), null)
      return
    }
    const ip = connected.remoteAddress ?? ''
    if (!options.isAllowed(ip)) {
      connected.destroy()
      callback(new BlockedAddress(target.hostname), null)
      return
    }
    const readyAt = performance.now()
    const connectMs = (connectedAt ?? readyAt) - startedAt
    const tlsMs = target.protocol === 'https:' ? readyAt - startedAt - connectMs : null
    options.onConnected(connected, { ip, dnsMs, connectMs, tlsMs })
    callback(null, connected)
  })
  onceConnected(socket, () => {
    connectedAt = performance.now()
  })
}

/** undici returns the socket it is connecting although its types do not say so; without it, TLS time counts as connect time. */
function onceConnected(socket: unknown, listener: () => void): void {
  if (typeof socket === 'object' && socket !== null && 'once' in socket) (socket as Socket).once('connect', listener)
}

/** RFC 6066 §3 allows no IP address as server name; the certificate is then checked against the address itself. */
function serverName(target: buildConnector.Options, hostname: string): { readonly servername?: string } {
  if (target.protocol !== 'https:' || isIP(hostname) !== 0) return {}
  return { servername: target.servername || hostname }
}

/** The two addresses of `localhost`, whatever a hosts file says (RFC 6761 §6.3). */
export const localhostOnly = {
  resolve: async (): Promise<readonly string[]> => ['127.0.0.1', '::1'],
  isAllowed: isLoopbackAddress,
}

const special = new BlockList()
const loopback = new BlockList()
for (const { network, prefix, family, use } of SPECIAL_ADDRESSES) {
  special.addSubnet(network, prefix, family)
  if (use === 'loopback') loopback.addSubnet(network, prefix, family)
}
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

/**
 * True only for an IP address on the public internet that merchants may use. Everything else is false: private,
 * loopback, link-local, reserved, multicast, every way to write an IPv4 address inside IPv6 (mapped, compatible, NAT64,
 * 6to4, Teredo), addresses with a zone, and texts that are not an IP address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4')
  if (!isIPv6(address) || address.includes('%')) return false
  return globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

/** True for an address of this machine itself: 127.0.0.0/8 and ::1. */
export function isLoopbackAddress(address: string): boolean {
  if (isIPv4(address)) return loopback.check(address, 'ipv4')
  return isIPv6(address) && !address.includes('%') && loopback.check(address, 'ipv6')
}
