import type { IncomingMessage } from 'node:http'
import { isIP, isIPv6 } from 'node:net'

/**
 * The client address of a request. Behind `trustedHops` proxies, it is the address seen by the outermost of them: the
 * entry that far from the end of `X-Forwarded-For`. Without proxies, the header is untrusted and ignored.
 */
export function clientAddress(request: Pick<IncomingMessage, 'headers' | 'socket'>, trustedHops: number): string {
  const direct = (request.socket.remoteAddress ?? 'unknown').replace(/^::ffff:/, '')
  if (trustedHops === 0) return direct
  const header = request.headers['x-forwarded-for']
  const seen = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').map((text) => text.trim())
  const address = seen.at(-trustedHops)?.replace(/^::ffff:/, '') ?? ''
  return isIP(address) === 0 ? direct : address
}

/** Clients with the same group share a limit: an IPv4 address, or the /64 of one IPv6 customer. */
export function addressGroup(address: string): string {
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? []
  const groups = head === '' ? [] : head.split(':')
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === '' ? 0 : tail.split(':').length)
  return [...groups, ...Array<string>(Math.max(0, missing)).fill('0')].slice(0, 4).join(':')
}
