import type { MarkPlace, MarkRecordId } from '#shared/ports/marks.ts'
import type { RedisConnections } from './connection.ts'

/** Keeps the text with the higher number; of two with the same number the newer one, which may be signed by a newer key. */
const RAISE_SCRIPT = `
for at = 1, #ARGV, 2 do
  local stored = redis.call('HGET', KEYS[1], ARGV[at])
  local former = stored and tonumber(string.match(stored, '^%d+')) or -1
  if tonumber(string.match(ARGV[at + 1], '^%d+')) >= former then redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1]) end
end
return 1`

/** Removes a text unless another one took its place meanwhile. */
const REMOVE_SCRIPT = `
for at = 1, #ARGV, 2 do
  if redis.call('HGET', KEYS[1], ARGV[at]) == ARGV[at + 1] then redis.call('HDEL', KEYS[1], ARGV[at]) end
end
return 1`

/** Fields that one command writes: a script blocks the server meanwhile. */
const FIELDS_MAX = 500

/** Marks in Redis: one hash for each life, without expiry. Commands fail at once while Redis is unavailable. */
export function createRedisMarkPlace({ producer, prefix }: Pick<RedisConnections, 'producer' | 'prefix'>): MarkPlace {
  const livesKey = (installation: string): string => `${prefix}:marks:${installation}`
  const keyOf = ({ installation, life }: MarkRecordId): string => `${livesKey(installation)}:${life}`
  return {
    name: 'redis',
    read: async (record, fields) => {
      if (fields === 'all') {
        const all = await producer.hgetall(keyOf(record))
        return new Map(Object.entries(all).map(([field, text]) => [field, [text]]))
      }
      const texts = await producer.hmget(keyOf(record), ...fields)
      return new Map(fields.flatMap((field, index) => (texts[index] == null ? [] : [[field, [texts[index]]] as const])))
    },
    lives: (installation) => producer.smembers(livesKey(installation)),
    raise: async (record, texts) => {
      await producer.sadd(livesKey(record.installation), record.life)
      const entries = [...texts]
      for (let from = 0; from < entries.length; from += FIELDS_MAX) {
        await producer.eval(RAISE_SCRIPT, 1, keyOf(record), ...entries.slice(from, from + FIELDS_MAX).flat())
      }
    },
    remove: async (record, texts) => {
      if (texts.size > 0) await producer.eval(REMOVE_SCRIPT, 1, keyOf(record), ...[...texts].flatMap(withField))
    },
  }
}

const withField = ([field, texts]: readonly [string, readonly string[]]): readonly string[] =>
  texts.flatMap((text) => [field, text])
