import { errorText } from '#shared/contracts/error-text.ts'

/** What a reply or a failed connection means for an operator, and what to do. The first that matches counts. */
const SENTENCES: readonly (readonly [RegExp, string])[] = [
  [
    /^(READONLY|UNBLOCKED)/,
    'is a read-only replica: REDIS_URL must lead to the primary, or name Sentinels with redis+sentinel://',
  ],
  [
    /^OOM/,
    'is full: it has reached maxmemory and refuses every write; raise maxmemory, or find what else is stored there',
  ],
  [/^MISCONF/, 'refuses every write because it cannot write to its disk'],
  [/^NOREPLICAS/, 'refuses every write because too few replicas are connected (min-replicas-to-write)'],
  [/^MASTERDOWN/, 'is a replica that lost its primary'],
  [/^LOADING/, 'is still loading its data'],
  [/^BUSY/, 'is busy with a script that does not end: SCRIPT KILL'],
  [/^(MOVED|ASK|CROSSSLOT)/, 'is a node of a cluster: use redis+cluster:// in REDIS_URL'],
  [/cluster support disabled/, 'is no cluster: use redis:// or redis+sentinel:// in REDIS_URL'],
  [
    /CLUSTERDOWN|slot is not served|too many cluster redirections/i,
    "has no node for the keys of this installation: a part of the cluster's slots is down",
  ],
  [/^NOAUTH/, 'wants a password: REDIS_URL has none'],
  [/^(WRONGPASS|ERR invalid password|ERR AUTH|ERR Client sent AUTH)/, 'refuses the user or password of REDIS_URL'],
  [
    /^NOPERM|^ERR The user executing the script/,
    'does not let its user do all that the queues need: allow the keys {prefix}:* and the commands of deploy/README.md',
  ],
  [/^(ERR unknown command|ERR This Redis command|NOSCRIPT)/i, 'does not run a command or script that the queues need'],
  [
    /connect ETIMEDOUT/,
    'does not complete a connection in time: is the address right, and does its port speak TLS if, and only if, REDIS_URL begins with rediss?',
  ],
  [/timed out|ETIMEDOUT/i, 'does not answer in time'],
  [
    /All sentinels are unreachable/,
    'cannot be found: no Sentinel answers, or none of them watches a primary of that name',
  ],
  [/ECONNREFUSED/, 'refuses the connection'],
  [/ENOTFOUND|EAI_AGAIN/, 'has no address: its name cannot be resolved'],
  [
    /certificate|self-signed|altname|CERT_/i,
    'has a certificate that is not trusted: name the file of its authority with ?tlsCAFile=',
  ],
  [
    /wrong version number|SSL|EPROTO|ECONNRESET/,
    'ends the connection: one side speaks TLS (rediss://) and the other does not',
  ],
]

const DETAIL_MAX = 200

/**
 * Why Redis cannot do the work of the queues, as the rest of a sentence about it. Names no password: replies of Redis hold none, and
 * the commands that the library attaches to an error are left out.
 */
export function redisFault(error: unknown): string {
  const message = messageOf(error)
  const known = SENTENCES.find(([pattern]) => pattern.test(message))
  const detail = message.slice(0, DETAIL_MAX)
  return known === undefined ? `answers with an error (${detail})` : `${known[1]} (${detail})`
}

/** A cluster wraps what its last node said, a transaction the replies to its commands. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return errorText(error)
  if ('lastNodeError' in error && error.lastNodeError instanceof Error) return messageOf(error.lastNodeError)
  if ('previousErrors' in error && Array.isArray(error.previousErrors) && error.previousErrors[0] instanceof Error)
    return messageOf(error.previousErrors[0])
  return errorText(error)
}
