import { createHash } from 'node:crypto'
import type { RedisClient } from './redis-client.ts'

/** What a probe leaves behind goes after this time. */
const LIFE_MS = 10_000

/**
 * Every command that scripts and callers of the queues send, with arguments that leave nothing behind: S, H, L, Z, E and X stand for keys
 * of a string, a hash, a list, a sorted set, a set and a stream. `redis-probe.test.ts` compares it with BullMQ's scripts.
 */
export const PROBED_COMMANDS: readonly string[] = [
  ...['TIME', 'SET S 1', 'GET S', 'MGET S S', 'INCR S', 'PEXPIRE S 1000', 'PTTL S', 'PERSIST S', 'EXISTS S'],
  ...['HSET H f 1', 'HMSET H f 1', 'HGET H f', 'HMGET H f', 'HGETALL H', 'HEXISTS H f', 'HINCRBY H f 1', 'HDEL H f'],
  ...['LPUSH L a b c', 'LLEN L', 'LINDEX L 0', 'LRANGE L 0 0', 'LREM L 0 a', 'LTRIM L 0 9', 'RPOPLPUSH L L', 'RPOP L'],
  ...[
    'ZADD Z 1 a 2 b',
    'ZCARD Z',
    'ZCOUNT Z 0 9',
    'ZSCORE Z a',
    'ZRANGE Z 0 0',
    'ZREVRANGE Z 0 0',
    'ZRANGEBYSCORE Z 0 9',
  ],
  ...['ZREVRANGEBYSCORE Z 9 0', 'ZREM Z a', 'ZPOPMIN Z', 'ZREMRANGEBYRANK Z 0 0', 'ZREMRANGEBYSCORE Z 0 9'],
  ...['SADD E a', 'SCARD E', 'SMEMBERS E', 'SREM E a', 'XADD X * f 1', 'XTRIM X MAXLEN 1', 'DEL S H L Z E X'],
]

const KEY_LETTERS = 'SHLZEX'

/** Writes a value and a marker, as a wake-up does; BZPOPMIN on the marker's key receives it. */
const WAKE_SCRIPT = `
redis.call('SET', KEYS[1], ARGV[1], 'PX', ${LIFE_MS})
redis.call('ZADD', KEYS[2], ARGV[1], 'probe')
return redis.call('PEXPIRE', KEYS[2], ${LIFE_MS})`

const ALL_SCRIPT = `${PROBED_COMMANDS.map((text) => `redis.call(${text.split(' ').map(luaOf).join(', ')})`).join('\n')}
${WAKE_SCRIPT.replaceAll('KEYS[1]', `KEYS[${KEY_LETTERS.length + 1}]`).replaceAll('KEYS[2]', `KEYS[${KEY_LETTERS.length + 2}]`)}`

function luaOf(word: string): string {
  const at = KEY_LETTERS.indexOf(word)
  return word.length === 1 && at >= 0 ? `KEYS[${at + 1}]` : `'${word}'`
}

/** A server or node must do all that the queues ask of it, not only answer. */
export type RedisProbe = ReturnType<typeof createRedisProbe>

const BLOCK_S = 2

/** The probe of one process, whose marker no other process receives. */
export function createRedisProbe(prefix: string, id: string) {
  const own = `${prefix}:health:${id}`
  const [value, marker] = [`${prefix}:health`, `${own}:marker`] as const
  const others = [...KEY_LETTERS].map((letter) => `${own}:${letter}`)
  let serial = 0
  const run = async (client: RedisClient, script: string, keys: readonly string[]): Promise<void> => {
    serial += 1
    try {
      await client.evalsha(createHash('sha1').update(script).digest('hex'), keys.length, ...keys, serial)
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      await client.eval(script, keys.length, ...keys, serial)
    }
  }
  return {
    /** Runs a script over several keys; with `isWhole` each command of the queues. Rejects when Redis refuses any of it. */
    wake: async (client: RedisClient, isWhole: boolean): Promise<void> => {
      if (!isWhole) return await run(client, WAKE_SCRIPT, [value, marker])
      await run(client, ALL_SCRIPT, [...others, value, marker])
      // Wake-ups that are sent together are a transaction.
      await client.multi().llen(`${own}:L`).exec()
    },

    /** Waits up to two seconds for what `wake` wrote; true when it arrived. */
    receive: async (client: RedisClient): Promise<boolean> => (await client.bzpopmin(marker, BLOCK_S)) !== null,
  }
}
