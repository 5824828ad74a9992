import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { errorCode, errorText } from '#shared/contracts/error-text.ts'
import { parsePlainUrl } from '#shared/contracts/http/plain-url.ts'
import { readDevInfo } from '../../start/dev-info.ts'

const THIS_MACHINE: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** Options of commands that call a server with an API key, like a merchant's program. */
export interface ServerOptions {
  readonly server?: string
  readonly apiKeyFile?: string
  readonly data?: string
}

/** URL of the dashboard API, and the key to use. */
export interface ServerAccess {
  /** Without a trailing slash. */
  readonly url: string
  readonly apiKey: string
}

/** An error response of the server. */
export class ServerRefusal extends Error {
  override readonly name = 'ServerRefusal'
  readonly code: string
  readonly status: number
  readonly retryAfterS: number | null

  constructor(answer: {
    readonly status: number
    readonly code: string
    readonly message: string
    readonly retryAfterS?: number | null
  }) {
    super(`${answer.code}: ${answer.message}`)
    this.code = answer.code
    this.status = answer.status
    this.retryAfterS = answer.retryAfterS ?? null
  }
}

/** Adds the options to a command. Keys come from a file or the environment, because other users can see command lines. */
export function withServerOptions(command: Command): Command {
  return command
    .option(
      '--server <url>',
      'address of the dashboard; default: PAYMESH_PUBLIC_ADMIN_URL, else what `npm start` runs here',
    )
    .option(
      '--api-key-file <file>',
      'file with the API key; default: PAYMESH_API_KEY, else the test key of `npm start`; - reads stdin',
    )
}

/** Finds both. Throws a readable error when one is missing. */
export const serverAccess = (options: ServerOptions, env: NodeJS.ProcessEnv = process.env): ServerAccess =>
  accessTo('--server', options.server ?? env['PAYMESH_PUBLIC_ADMIN_URL'], 'adminUrl', options, env)

/** The address of the API and the key to use, found in the same way. */
export const apiAccess = (
  options: ServerOptions & { readonly api?: string },
  env: NodeJS.ProcessEnv = process.env,
): ServerAccess => accessTo('--api', options.api ?? env['PAYMESH_API'], 'apiUrl', options, env)

/** An address of the data folder may be that of a stranger who put it into a repository: no key goes to one elsewhere, and the key of the local installation to no other. */
function accessTo(
  flag: string,
  named: string | undefined,
  place: 'adminUrl' | 'apiUrl',
  options: ServerOptions,
  env: NodeJS.ProcessEnv,
): ServerAccess {
  const dev = readDevInfo(options.data ?? '.data')
  const local = dev?.[place] ?? null
  const given = named ?? local
  if (given === null) throw new Error(`No server is known. Give ${flag}, or run \`npm start\` first.`)
  const url = parsePlainUrl(given)
  const isHere = url !== null && THIS_MACHINE.includes(url.hostname)
  const isSafe = (url?.protocol === 'https:' && named !== undefined) || (isHere && /^https?:$/.test(url.protocol))
  if (url === null || !isSafe) throw new Error(`${flag} must be an https:// address, or http:// on this machine`)
  const own = given === local ? dev?.testKey : undefined
  const file = options.apiKeyFile
  const apiKey = (
    file === undefined ? (env['PAYMESH_API_KEY'] ?? own) : readFileSync(file === '-' ? 0 : file, 'utf8')
  )?.trim()
  if (!apiKey) throw new Error('No API key found. Set PAYMESH_API_KEY or --api-key-file.')
  return { url: given.replace(/(?<!\/)\/+$/, ''), apiKey }
}

/** Calls the server. Throws `ServerRefusal` for anything but a 2xx, and a readable error when it does not respond. */
export async function callServer(
  { url, apiKey }: ServerAccess,
  path: string,
  init: {
    readonly method?: string
    readonly body?: string
    readonly headers?: Readonly<Record<string, string>>
    readonly signal?: AbortSignal
  } = {},
): Promise<Response> {
  const headers = {
    authorization: `Bearer ${apiKey}`,
    ...(init.body !== undefined && { 'content-type': 'application/json' }),
    ...init.headers,
  }
  let response: Response
  try {
    response = await fetch(`${url}${path}`, { ...init, headers, redirect: 'error' })
  } catch (cause) {
    throw new Error(`${url} does not respond: ${reasonOf(cause)}`, { cause })
  }
  if (response.ok) return response
  const text = await response.text().catch(() => '')
  throw refusalOf(response, text)
}

function refusalOf({ status, headers }: Response, text: string): ServerRefusal {
  const retryAfterS = Number(headers.get('retry-after') ?? Number.NaN)
  let error: { code?: unknown; message?: unknown; details?: readonly { path: string; message: string }[] } = {}
  try {
    error = JSON.parse(text).error ?? {}
  } catch {
    // A proxy, or another program: only its status is known.
  }
  const details = (error.details ?? []).map(({ path, message }) => `\n  ${path}: ${message}`).join('')
  return new ServerRefusal({
    status,
    code: typeof error.code === 'string' ? error.code : `HTTP ${status}`,
    message: `${typeof error.message === 'string' ? error.message : 'this is not the dashboard of a Paymesh installation'}${details}`,
    retryAfterS: Number.isFinite(retryAfterS) ? retryAfterS : null,
  })
}

/** The innermost reason of a failed connection: `ECONNREFUSED` rather than `fetch failed`. */
export const reasonOf = (error: unknown): string => errorCode(error) ?? errorText(error)
