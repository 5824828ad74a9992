/** Where Redis is, read from `REDIS_URL`. */
export interface RedisAddress {
  /** One server, the Sentinels that name the primary, or nodes of a cluster. */
  readonly kind: 'server' | 'sentinel' | 'cluster'
  readonly isTls: boolean
  /** The server, the Sentinels, or some nodes of the cluster: at least one. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
  readonly username: string | null
  readonly password: string | null
  readonly database: number
  /** The name under which Sentinels watch the primary; null without Sentinels. */
  readonly primaryName: string | null
  readonly sentinelUsername: string | null
  readonly sentinelPassword: string | null
  /** PEM files: certificates that sign the server's, and the client's own certificate with its key. */
  readonly caFile: string | null
  readonly certificateKeyFile: string | null
}

/** `REDIS_URL` cannot be used. The message says why and holds no part of the URL, so that no password reaches a log. */
export class RedisUrlError extends Error {
  override readonly name = 'RedisUrlError'
}

const KINDS = { '': 'server', '+sentinel': 'sentinel', '+cluster': 'cluster' } as const
const FORMS = Object.keys(KINDS).flatMap((suffix) => ['redis', 'rediss'].map((scheme) => `${scheme}${suffix}://`))
const ENCODE =
  'write special characters of a user or password percent-encoded (@ as %40, / as %2F, # as %23, ? as %3F, % as %25)'
const TLS_OPTIONS = ['tlsCAFile', 'tlsCertificateKeyFile']
const SENTINEL_OPTIONS = ['sentinelUsername', 'sentinelPassword']
const DATABASE_MAX = 1_000_000

const fault = (text: string): never => {
  throw new RedisUrlError(text)
}

/**
 * Reads `redis://[user:password@]host[:port][/database]`, `redis+sentinel://…@sentinel[:port],…/name-of-primary[/database]` and
 * `redis+cluster://…@node[:port],…`, each with `rediss` for TLS. The options of TLS are named as in a MongoDB URL.
 * Schemes and paths are those of Redis-Sentinel-Url and Prefect, of November 2026.
 *
 * @throws {RedisUrlError} when the text is none of them.
 */
export function parseRedisUrl(text: string): RedisAddress {
  const [scheme = '', rest] = splitOnce(text, '://')
  const isTls = /^rediss/i.test(scheme)
  const suffix = scheme.toLowerCase().replace(/^rediss?/, '')
  if (rest === undefined || !/^redis/i.test(scheme) || !isSuffix(suffix)) return fault(`must begin with ${list(FORMS)}`)
  const kind = KINDS[suffix]
  const [beforeQuery = '', query = ''] = splitOnce(rest, '?')
  const [authority = '', path = ''] = splitOnce(beforeQuery, '/')
  const parts = authority.split('@')
  const hostText = parts.pop() ?? ''
  if (parts.length > 1 || beforeQuery.includes('#') || path.includes('@')) return fault(`is ambiguous: ${ENCODE}`)
  const hosts = hostText.split(',').map((one) => hostOf(one, kind === 'sentinel' ? 26_379 : 6_379))
  if (kind === 'server' && hosts.length > 1)
    return fault('names several servers: redis+sentinel:// lists Sentinels, redis+cluster:// nodes of a cluster')
  return {
    ...{ kind, isTls, hosts },
    ...credentialsOf(parts[0]),
    ...pathOf(kind, path),
    ...optionsOf(query, [...(isTls ? TLS_OPTIONS : []), ...(kind === 'sentinel' ? SENTINEL_OPTIONS : [])]),
  }
}

const isSuffix = (text: string): text is keyof typeof KINDS => Object.hasOwn(KINDS, text)
const list = (names: readonly string[]): string => `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`

function splitOnce(text: string, separator: string): readonly [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return fault(ENCODE)
  }
}

function hostOf(text: string, fallbackPort: number): RedisAddress['hosts'][number] {
  const match = /^(?:\[([0-9a-f:.]{2,45})\]|([\w.-]{1,253}))(?::(\d{1,5}))?$/i.exec(text)
  const port = Number(match?.[3] ?? fallbackPort)
  if (match === null || port < 1 || port > 65_535)
    return fault(`needs hosts of the form host or host:port, separated by commas; ${ENCODE}`)
  return { host: match[1] ?? match[2] ?? '', port }
}

function credentialsOf(text: string | undefined): Pick<RedisAddress, 'username' | 'password'> {
  if (text === undefined || text === '') return { username: null, password: null }
  const [username = '', password] = splitOnce(text, ':')
  if (password === undefined || password === '')
    return fault('has a user without a password: user:password@ or :password@')
  return { username: username === '' ? null : decoded(username), password: decoded(password) }
}

function pathOf(kind: RedisAddress['kind'], path: string): Pick<RedisAddress, 'database' | 'primaryName'> {
  const [first = '', second = ''] = path.split('/')
  if (path.split('/').length > 2) return fault('has too many parts after its hosts')
  if (kind === 'sentinel' && !/^[\w.%-]{1,100}$/.test(first))
    return fault('must name the primary that the Sentinels watch: redis+sentinel://host:26379,host:26379/mymaster')
  const number = kind === 'sentinel' ? second : first
  if (kind !== 'sentinel' && second !== '') return fault('has too many parts after its hosts')
  if (!/^\d{0,7}$/.test(number) || Number(number) > DATABASE_MAX)
    return fault('must end with the number of a database, or nothing')
  if (kind === 'cluster' && Number(number) > 0) return fault('must name no database: a cluster has database 0 alone')
  return { database: Number(number), primaryName: kind === 'sentinel' ? decoded(first) : null }
}

/** Names outside `allowed` are not repeated in the error: an unencoded `?` in a password makes a part of it look like one. */
function optionsOf(query: string, allowed: readonly string[]) {
  const options = new URLSearchParams(query)
  if ([...options].some(([name, value]) => !allowed.includes(name) || value === ''))
    return fault(
      `has an option that it cannot have; with rediss: ${TLS_OPTIONS.join(', ')}; with +sentinel: ${SENTINEL_OPTIONS.join(', ')}; ${ENCODE}`,
    )
  return {
    caFile: options.get('tlsCAFile'),
    certificateKeyFile: options.get('tlsCertificateKeyFile'),
    sentinelUsername: options.get('sentinelUsername'),
    sentinelPassword: options.get('sentinelPassword'),
  }
}
