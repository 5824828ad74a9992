import { setTimeout as wait } from 'node:timers/promises'
import type mongoose from 'mongoose'
import { errorText } from '#shared/contracts/error-text.ts'

/** No primary was found: it may come later, as in an election. The message names each host and what is the matter with it. */
export class StoreAway extends Error {}

/** Errors of the driver, and of mongoose around them, that say so; any other is a refusal, such as a wrong password. */
const AWAY = /^(Mongoose|Mongo)(ServerSelection|Network|NetworkTimeout)Error$/

/** MongoDB's error codes (`error_codes.yml`). */
const AUTHENTICATION_FAILED = 18

/** States of a server that is no primary (MongoDB driver specification "Server Discovery and Monitoring", ServerType). */
const STATES: Readonly<Record<string, string>> = {
  RSSecondary: 'is a secondary',
  RSArbiter: 'is an arbiter',
  RSOther: 'starts or recovers',
  RSGhost: 'belongs to no replica set yet: run rs.initiate() there',
  Standalone: 'is a single server: start it with --replSet',
}

/** What a driver's failure to connect means: a `StoreAway`, a refusal in words, or the error itself. `setName` is what the URL names. */
export function explainAway(error: unknown, setName: string | undefined): unknown {
  if (!(error instanceof Error)) return error
  if ('code' in error && error.code === AUTHENTICATION_FAILED)
    return new Error('MongoDB refuses the user or password of MONGO_URL', { cause: error })
  if (!AWAY.test(error.name)) return error
  const topology = [error.cause, 'reason' in error ? error.reason : null].find(
    (one) => one instanceof Object && 'servers' in one && one.servers instanceof Map,
  ) as { readonly servers: ReadonlyMap<string, ServerState> } | undefined
  const reasons = reasonsOf(topology?.servers, setName) ?? errorText(error)
  return new StoreAway(`no primary of MongoDB was found: ${reasons}`, { cause: error })
}

type ServerState = Pick<mongoose.mongo.ServerDescription, 'address' | 'type' | 'error'>

function reasonsOf(servers: ReadonlyMap<string, ServerState> | undefined, setName = ''): string | null {
  if (servers === undefined) return null
  // The driver takes servers of another set off its list.
  if (servers.size === 0) return `no host of MONGO_URL is a member of the replica set ${setName}, which it names`
  const reasons = [...servers.values()].map(
    ({ address, type, error }) =>
      `${address} ${STATES[type] ?? (error === null ? 'does not answer' : `(${errorText(error)})`)}`,
  )
  return reasons.join(', ')
}

/** A set of one member elects itself within this time after its start. */
const ELECTION_MS = 10_000
const POLL_MS = 250

/**
 * Throws unless the server is the primary of a replica set, or leads to one, within 10 s: with `directConnection` the driver takes any server, and
 * without a set each transaction would fail.
 */
export async function requirePrimary(client: mongoose.mongo.MongoClient): Promise<void> {
  for (const until = performance.now() + ELECTION_MS; ; await wait(POLL_MS)) {
    const { isWritablePrimary, setName, msg, me } = await client.db('admin').command({ hello: 1 })
    if (setName === undefined && msg !== 'isdbgrid')
      throw new Error(
        'MongoDB is a single server: it must be a replica set, of one member at least (--replSet and rs.initiate())',
      )
    if (isWritablePrimary === true) return
    if (performance.now() > until)
      throw new StoreAway(`no primary of MongoDB was found: MONGO_URL names ${me} alone, which is not the primary`)
  }
}
