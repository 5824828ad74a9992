import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { generate } from 'otplib'
import { createApp } from '#services/admin/app.ts'
import type { After } from '#shared/ports/timers.ts'
import { createOperator } from '#shared/usecases/accounts/manage-operators.ts'
import { adminCaller } from './admin.ts'
import type { TestStores } from './stores.ts'

/** The origin that the dashboard of `openAdmin` believes to have. */
export const ADMIN_ORIGIN = 'http://127.0.0.1:4102'
export const PASSWORD = 'four words are good'

/** What came back from a procedure over HTTP. */
export interface AdminAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly data: any
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly error: any
  readonly cookies: readonly string[]
}

/** A browser: keeps its cookies and sends the origin as browsers do. */
export type AdminBrowser = ReturnType<typeof createBrowser>

/**
 * The operators' interface on real stores behind real HTTP, with a clock that stands still until a test moves it: a slow machine must
 * not end anybody's wait. Answers to wrong passwords that are to wait are recorded in `waits` and given at once, or, after
 * `holdAnswers`, when the function that it returned is called. Close it.
 */
export async function openAdmin(stores: TestStores) {
  let now = stores.runtime.clock.now()
  const clock = { now: () => now }
  const waits: number[] = []
  let held: (() => void)[] | null = null
  const after: After = (delayMs, run) => {
    waits.push(delayMs)
    if (held === null) run()
    else held.push(run)
    return () => undefined
  }
  const { deps, workspaceId, wakeUps, at } = await adminCaller(stores, {
    env: { PAYMESH_PUBLIC_ADMIN_URL: ADMIN_ORIGIN },
    deps: () => ({ clock, after }),
  })
  const server = createServer(createApp(deps))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    deps,
    workspaceId,
    at,
    wakeUps,
    url,
    /** How long each answer to a wrong password was to wait, in milliseconds, oldest first. */
    waits,
    /** Holds answers that are to wait until the returned function is called. */
    holdAnswers: () => {
      held = []
      return () => {
        const all = held ?? []
        held = null
        for (const run of all) run()
      }
    },
    advance: (ms: number) => {
      now += ms
    },
    /** The code an authenticator shows now, or so many steps from now. */
    codeOf: async (secret: string, steps = 0) =>
      await generate({ secret, epoch: Math.floor(clock.now() / 1_000) + steps * 30 }),
    addPerson: async (email: string, role: 'owner' | 'admin' | 'support' | 'viewer' = 'owner') =>
      await createOperator(deps, {
        ...{ email, name: email.split('@')[0] ?? '', password: PASSWORD, isOperator: false },
        ...{ member: { workspaceId, role }, actor: 'test' },
      }),
    browser: () => createBrowser(url),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function createBrowser(url: string) {
  const jar = new Map<string, string>()

  async function send(path: string, init: RequestInit): Promise<AdminAnswer> {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(cookie !== '' && { cookie }), ...(init.headers as Record<string, string>) }
    const response = await fetch(`${url}/trpc/${path}`, { ...init, headers })
    const cookies = response.headers.getSetCookie()
    for (const line of cookies) {
      const [pair = ''] = line.split(';')
      const [name = '', value = ''] = pair.split('=')
      if (/max-age=0/i.test(line)) jar.delete(name)
      else jar.set(name, value)
    }
    const body = JSON.parse((await response.text()) || '{}')
    return { status: response.status, data: body.result?.data, error: body.error, cookies }
  }

  return {
    jar,
    mutate: (
      path: string,
      input: object = {},
      headers: Readonly<Record<string, string>> = {},
      signal: AbortSignal | null = null,
    ) =>
      send(path, {
        signal,
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: ADMIN_ORIGIN, ...headers },
        body: JSON.stringify(input),
      }),
    /** Inputs of queries travel in bodies too. */
    query: (path: string, input: object | null = null, headers: Readonly<Record<string, string>> = {}) =>
      input === null
        ? send(path, { headers })
        : send(path, {
            method: 'POST',
            headers: { 'content-type': 'application/json', origin: ADMIN_ORIGIN, ...headers },
            body: JSON.stringify(input),
          }),
    get: (path: string) => send(path, {}),
    /** A POST with a body as it stands. */
    send: (path: string, body: string) =>
      send(path, { method: 'POST', headers: { 'content-type': 'application/json', origin: ADMIN_ORIGIN }, body }),
    logIn: function (email: string, password = PASSWORD, signal: AbortSignal | null = null) {
      return this.mutate('auth.logIn', { email, password }, {}, signal)
    },
  }
}
