import { expect, it } from 'vitest'
import { parseRedisUrl, type RedisAddress, RedisUrlError } from './redis-url.ts'

const PLAIN: RedisAddress = {
  ...{ kind: 'server', isTls: false, hosts: [{ host: 'redis', port: 6379 }] },
  ...{ username: null, password: null, database: 0, primaryName: null },
  ...{ sentinelUsername: null, sentinelPassword: null, caFile: null, certificateKeyFile: null },
}

it.each<[string, Partial<RedisAddress>]>([
  ['redis://redis', {}],
  ['REDIS://redis/', {}],
  ['redis://redis:6380/3', { hosts: [{ host: 'redis', port: 6380 }], database: 3 }],
  ['redis://[::1]:7000', { hosts: [{ host: '::1', port: 7000 }] }],
  ['redis://:sec:ret@redis', { password: 'sec:ret' }],
  ['redis://app:p%40ss%3Aw%2Frd%25%23%3F@redis', { username: 'app', password: 'p@ss:w/rd%#?' }],
  [
    'rediss://app:secret@redis?tlsCAFile=/etc/ca.pem&tlsCertificateKeyFile=/etc/me.pem',
    { isTls: true, username: 'app', password: 'secret', caFile: '/etc/ca.pem', certificateKeyFile: '/etc/me.pem' },
  ],
  [
    'redis+sentinel://:secret@a,b:26380/mymaster/2?sentinelUsername=s&sentinelPassword=x%26y',
    {
      ...{ kind: 'sentinel', primaryName: 'mymaster', database: 2, password: 'secret' },
      hosts: [
        { host: 'a', port: 26_379 },
        { host: 'b', port: 26_380 },
      ],
      ...{ sentinelUsername: 's', sentinelPassword: 'x&y' },
    },
  ],
  [
    'rediss+cluster://a:7000,b:7001',
    {
      ...{ kind: 'cluster', isTls: true },
      hosts: [
        { host: 'a', port: 7000 },
        { host: 'b', port: 7001 },
      ],
    },
  ],
])('reads %s', (text, expected) => {
  expect(parseRedisUrl(text)).toEqual({ ...PLAIN, ...expected })
})

// Guarantee: an operator reads what is wrong, and no log ever holds a piece of the password.
it.each([
  ['redis', /^must begin with redis:\/\/, rediss:\/\//],
  ['http://HUSH@redis', /^must begin with/],
  ['sentinel://:HUSH@a:26379', /^must begin with/],
  ['redis+sentinel+x://:HUSH@a/m', /^must begin with/],
  ['redis://:HUSH@more@redis', /percent-encoded \(@ as %40/],
  ['redis://:HUSH/more@redis', /%2F/],
  ['redis://:HUSH#more@redis', /percent-encoded/],
  ['redis://:HUSH?more@redis', /percent-encoded/],
  ['redis://:HUSH%zz@redis', /%25/],
  ['redis://HUSH@redis', /user:password@/],
  ['redis://:HUSH@', /host:port/],
  ['redis://:HUSH@redis:99999', /host:port/],
  ['redis://:HUSH@a,b', /redis\+sentinel:\/\/ lists Sentinels/],
  ['redis://:HUSH@redis/x', /number of a database/],
  ['redis+sentinel://:HUSH@a,b', /must name the primary/],
  ['redis+sentinel://:HUSH@a/m/0/1', /too many parts/],
  ['redis+cluster://:HUSH@a/1', /database 0 alone/],
  ['redis://:HUSH@redis?tlsCAFile=/ca.pem', /with rediss: tlsCAFile/],
  ['redis://:HUSH@redis?HUSH=1', /has an option/],
])('refuses %s with the reason and without any part of it', (text, reason) => {
  expect(() => parseRedisUrl(text)).toThrow(RedisUrlError)
  expect(() => parseRedisUrl(text)).toThrow(reason)
  expect(() => parseRedisUrl(text)).not.toThrow(/HUSH|more/)
})
