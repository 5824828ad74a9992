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

/** How the sample shop of a language starts. `prepare` resolves with its command. */
interface Language {
  readonly name: string
  readonly program: string
  prepare(folder: string, port: number): Promise<readonly string[]>
}

const LANGUAGES: readonly Language[] = [
  {
    name: 'TypeScript',
    program: 'node',
    prepare: async () => [process.execPath, '--import', 'tsx', join(CLIENTS, 'typescript/examples/shop.ts')],
  },
  { name: 'Python', program: 'python3', prepare: async () => ['python3', join(CLIENTS, 'python/examples/shop.py')] },
  {
    name: 'Go',
    program: 'go',
    prepare: async (folder) => {
      const binary = join(folder, 'shop')
      const env = { ...process.env, GOFLAGS: '-mod=mod', GOWORK: 'off' }
      await run('go', ['build', '-o', binary, './examples/shop'], { cwd: join(CLIENTS, 'go'), env })
      return [binary]
    },
  },
  {
    name: 'PHP',
    program: 'php',
    prepare: async (_folder, port) => ['php', '-S', `127.0.0.1:${port}`, join(CLIENTS, 'php/examples/shop.php')],
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

/** Starts a sample shop on a port of its own; resolves when it answers. */
export async function startShop(
  { prepare }: Language,
  { api, key, secret }: { readonly api: string; readonly key: string; readonly secret: string },
): Promise<Shop> {
  const folder = await mkdtemp(join(tmpdir(), 'paymesh-shop-'))
  const port = await freePort(0)
  const [command = '', ...args] = await prepare(folder, port)
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
