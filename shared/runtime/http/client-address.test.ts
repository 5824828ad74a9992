import { describe, expect, it } from 'vitest'
import { addressGroup, clientAddress } from './http-server.ts'

const request = (remoteAddress: string, header?: string) =>
  ({ socket: { remoteAddress }, headers: header === undefined ? {} : { 'x-forwarded-for': header } }) as never

describe('where a request comes from', () => {
  /** Guarantee: without a proxy of ours nobody writes his own address. */
  it('is the connection while no proxy is trusted', () => {
    expect(clientAddress(request('::ffff:192.0.2.1', '203.0.113.9'), 0)).toBe('192.0.2.1')
  })

  it('is what the outermost trusted proxy saw, whatever was written before it', () => {
    const forged = '10.0.0.1, 203.0.113.9, 198.51.100.2'
    expect(clientAddress(request('192.0.2.1', forged), 1)).toBe('198.51.100.2')
    expect(clientAddress(request('192.0.2.1', forged), 2)).toBe('203.0.113.9')
  })

  it('is the connection when the header is missing, too short or no address', () => {
    for (const header of [undefined, '', 'unknown', '203.0.113.9']) {
      expect(clientAddress(request('192.0.2.1', header), 2)).toBe('192.0.2.1')
    }
  })

  it('groups IPv6 by what one customer holds', () => {
    expect(addressGroup('192.0.2.1')).toBe('192.0.2.1')
    expect(addressGroup('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2')
    expect(addressGroup('2001:db8::1')).toBe(addressGroup('2001:db8::2'))
    expect(addressGroup('::1')).toBe('0:0:0:0')
  })
})
