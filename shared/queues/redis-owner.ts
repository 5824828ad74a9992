import type { RedisConnections } from './connection.ts'

/**
 * Claims the key prefix for an installation, once and without expiry. Returns the installation that claimed it before, when that is another one:
 * two installations behind one prefix would read each other's limits, epochs and wake-ups. Null when Redis does not answer: nothing is known then.
 */
export async function foreignOwner(
  { producer, prefix }: Pick<RedisConnections, 'producer' | 'prefix'>,
  installation: string,
): Promise<string | null> {
  try {
    const key = `${prefix}:installation`
    await producer.set(key, installation, 'NX')
    const owner = await producer.get(key)
    return owner === null || owner === installation ? null : owner
  } catch {
    return null
  }
}

/** The sentence for an operator whose Redis prefix another installation uses. */
export const foreignOwnerText = (prefix: string, owner: string): string =>
  `the keys {${prefix}}:* in Redis belong to installation ${owner}, not to the one in this database: set another PAYMESH_REDIS_PREFIX, or use its own Redis`
