import { requestServer } from './request-server.ts'

/** A question to the server, as the page's code asks it. */
interface ServerRead {
  readonly path: string
  readonly input?: Readonly<Record<string, unknown>>
}

/** What the server said to it, or why it said nothing. */
export type FirstAnswer = { readonly data: unknown } | { readonly error: object }

/** An answer that waited longer than this is not used: the page asks again. */
const FRESH_MS = 10_000
const OPEN_PAGES = /^\/(login|invitation|reset)\b/
const PLACE = /^\/([^/]+)\/(live|test)\/(.+?)\/?$/
/** The choice of `overview-page.tsx` and `invoices-page.tsx` when the address has no filters. */
const OVERVIEW_DAYS = 14
const NO_FILTERS = { status: null, q: '', asset: null, source: null, flag: null, order: 'newest' } as const

const waiting = new Map<string, { readonly answer: Promise<FirstAnswer>; arrivedAt: number | null }>()

/**
 * What the page of an address asks first, by request: the frame's questions, and those of the page, whose slower answers must not delay
 * the frame. A page that is not named here asks for its data when its code has been loaded.
 */
function firstReads({ pathname, search }: Location): readonly (readonly ServerRead[])[] {
  if (OPEN_PAGES.test(pathname)) return []
  const me = { path: 'auth.me' }
  const [, workspaceId, mode, page] = PLACE.exec(pathname) ?? []
  if (workspaceId === undefined) return [[me]]
  const scope = { workspaceId, mode }
  const frame = [me, { path: 'overview.attention', input: scope }]
  if (search !== '') return [frame]
  if (page === 'overview') return [frame, overviewReads(scope)]
  return page === 'invoices' ? [frame, invoicesReads(scope)] : [frame]
}

function overviewReads(scope: object): readonly ServerRead[] {
  const figures = { ...scope, span: OVERVIEW_DAYS, zone: Intl.DateTimeFormat().resolvedOptions().timeZone }
  return [
    { path: 'overview.firstSteps', input: { ...scope } },
    { path: 'overview.volume', input: figures },
    { path: 'overview.funnel', input: figures },
    { path: 'overview.webhooks', input: { ...scope } },
    { path: 'overview.chains', input: { ...scope } },
  ]
}

function invoicesReads(scope: object): readonly ServerRead[] {
  const anyTime = { from: null, to: null }
  return [
    { path: 'invoices.list', input: { ...scope, ...anyTime, ...NO_FILTERS } },
    { path: 'invoices.counts', input: { ...scope, ...anyTime } },
  ]
}

/** Requests the first data of an address's page, while the code of the page is loaded. Call it once, before anything else. */
export function requestFirst(location: Location): void {
  for (const reads of firstReads(location)) {
    const answers = send(reads)
    reads.forEach(({ path, input }, index) => {
      const entry = {
        answer: answers.then((all) => {
          entry.arrivedAt = Date.now()
          return all[index] ?? { error: {} }
        }),
        arrivedAt: null as number | null,
      }
      waiting.set(keyOf(path, input), entry)
    })
  }
}

/**
 * The answer to a question of the page if it was requested first, null otherwise. Each is given once, so that a later question reads the
 * server.
 */
export function takeFirst(path: string, input: unknown): Promise<FirstAnswer> | null {
  const key = keyOf(path, input)
  const entry = waiting.get(key)
  waiting.delete(key)
  if (entry === undefined) return null
  const isOld = entry.arrivedAt !== null && Date.now() - entry.arrivedAt > FRESH_MS
  return isOld ? null : entry.answer
}

/** Equal for equal questions, in whatever order their fields are. */
function keyOf(path: string, input: unknown): string {
  const fields = Object.entries(input ?? {}).filter(([, value]) => value !== undefined)
  return JSON.stringify([path, fields.sort(([one], [other]) => (one < other ? -1 : 1))])
}

/** One batch, in the form of tRPC's client (https://trpc.io/docs/rpc). Never rejects: without an answer there is an error. */
async function send(reads: readonly ServerRead[]): Promise<readonly FirstAnswer[]> {
  try {
    const response = await requestServer(`/trpc/${reads.map(({ path }) => path).join(',')}?batch=1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(Object.fromEntries(reads.map(({ input }, index) => [index, input]))),
    })
    const answers: unknown = await response.json()
    return Array.isArray(answers) ? answers.map(answerOf) : []
  } catch (error) {
    return reads.map(() => ({ error: Object(error) }))
  }
}

const answerOf = (answer: { readonly result?: { readonly data?: unknown } }): FirstAnswer =>
  answer.result === undefined ? { error: answer } : { data: answer.result.data }
