import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { onPath } from '#dev/embedded/binary-cache.ts'
import { freePort } from '#dev/embedded/free-port.ts'
import { startGuarded } from '#dev/embedded/guarded-child.ts'
import { EVERY_CASE } from '#test/support/every-case.ts'

const run = promisify(execFile)
const CLIENTS = join(import.meta.dirname, '../../clients')

/** How the examples of a client start: `commandOf` resolves with the command of the one with this name. */
export interface Language {
  readonly name: string
  readonly program: string
  commandOf(example: 'shop' | 'conformance', folder: string): Promise<readonly string[]>
  /** The command with which a script that is no server of its own is served. */
  readonly serve?: (script: string, port: number) => readonly string[]
}

const LANGUAGES: readonly Language[] = [
  {
    name: 'TypeScript',
    program: 'node',
    commandOf: async (name) => [process.execPath, '--import', 'tsx', join(CLIENTS, `typescript/examples/${name}.ts`)],
  },
  {
    name: 'Python',
    program: 'python3',
    commandOf: async (name) => ['python3', join(CLIENTS, `python/examples/${name}.py`)],
  },
  {
    name: 'Go',
    program: 'go',
    commandOf: async (name, folder) => {
      const binary = join(folder, name)
      const env = { ...process.env, GOFLAGS: '-mod=mod', GOWORK: 'off' }
      await run('go', ['build', '-o', binary, `./examples/${name}`], { cwd: join(CLIENTS, 'go'), env })
      return [binary]
    },
  },
  {
    name: 'PHP',
    program: 'php',
    commandOf: async (name) => ['php', join(CLIENTS, `php/examples/${name}.php`)],
    serve: (script, port) => ['php', '-S', `127.0.0.1:${port}`, script],
  },
]

/**
 * The languages that this run tests: TypeScript and Python wherever the tests run; Go, whose first build on a machine takes a minute, in
 * the stage `cases`, and PHP in the same stage where it is installed.
 */
export const SHOPS = LANGUAGES.filter(
  ({ name, program }) =>
    ['TypeScript', 'Python'].includes(name) || (EVERY_CASE && (name === 'Go' || onPath(program) !== null)),
)

/** A sample shop that runs. */
export interface Shop {
  readonly url: string
  stop(): Promise<void>
}

/** Starts a sample shop on its own port; resolves when it answers. */
export async function startShop(
  { commandOf, serve }: Language,
  { api, key, secret }: { readonly api: string; readonly key: string; readonly secret: string },
): Promise<Shop> {
  const folder = await mkdtemp(join(tmpdir(), 'paymesh-shop-'))
  const port = await freePort(0)
  const direct = await commandOf('shop', folder)
  const [command = '', ...args] = serve?.(direct.at(-1) ?? '', port) ?? direct
  const settings = { PAYMESH_API: api, PAYMESH_KEY: key, PAYMESH_SECRET: secret, PORT: String(port) }
  const env = { ...process.env, ...settings, SHOP_FILE: join(folder, 'orders.json') }
  const child = await startGuarded(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  await new Promise<void>((ready, failed) => {
    let text = ''
    const read = (line: string): void => {
      text += `${line}\n`
      if (/listening on|Development Server .* started/.test(line)) ready()
    }
    for (const stream of [child.stdout, child.stderr]) if (stream !== null) createInterface(stream).on('line', read)
    void child.exited.then(({ code }) => failed(new Error(`the shop ended with ${code}: ${text}`)))
  })
  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      await child.stop(5_000)
      await rm(folder, { recursive: true, force: true })
    },
  }
}
