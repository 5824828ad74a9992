import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '#dev/embedded/free-port.ts'
import { startGuarded } from '#dev/embedded/guarded-child.ts'
import { codeBlocks } from '#test/docs/code-blocks.ts'
import { useWorld } from '#test/support/use-world.ts'

const world = useWorld()
const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
/** What the acceptance of the first shop allows. */
const TEN_MINUTES_MS = 600_000
let folder: string

/** The release as a developer has it: the clients, and what its step of packing made. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'paymesh-first-shop-'))
  const packed = join(folder, 'release/.cache/release')
  await mkdir(packed, { recursive: true })
  for (const name of ['typescript', 'cli']) {
    const args = ['pack', '--silent', '--ignore-scripts=false', '--pack-destination', packed]
    await run('npm', args, { cwd: join(ROOT, 'clients', name) })
  }
  const { stdout } = await run('git', ['ls-files', '-z', 'clients'], { cwd: ROOT })
  for (const file of stdout.split('\0').filter(Boolean)) await cp(join(ROOT, file), join(folder, 'release', file))
}, TEN_MINUTES_MS)
afterAll(() => rm(folder, { recursive: true, force: true }))

/** The commands of the page, by their step. */
async function commandsOf(step: string): Promise<string> {
  const page = await readFile(join(ROOT, 'clients/README.md'), 'utf8')
  const block = codeBlocks(page).find(({ attributes }) => attributes['shop'] === step)
  if (block === undefined) throw new Error(`the page has no step ${step}`)
  return block.code
}

async function textOf(stream: Readable | null): Promise<string> {
  let text = ''
  for await (const part of stream ?? []) text += String(part)
  return text
}

// Guarantee: the commands of clients/README.md lead from a URL and a test key to a verified, fulfilled order, in each language.
it.each(['TypeScript', 'Python', 'PHP', 'Go'])(
  'a first shop in %s',
  async (language) => {
    const place = join(folder, language)
    await mkdir(place)
    const steps = await Promise.all(['listen', language, 'sell'].map(commandsOf))
    const { apiUrl, adminUrl, testKey } = world().dev
    const env = {
      ...process.env,
      ...{ PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, RELEASE: join(folder, 'release') },
      ...{ PAYMESH_API: apiUrl, PAYMESH_PUBLIC_ADMIN_URL: adminUrl ?? '', PAYMESH_API_KEY: testKey },
      PORT: String(await freePort(0)),
    }
    // What goes on in the background ends with the shell: it is in its group.
    const script = ['-euc', steps.join('\n')]
    const shell = await startGuarded('sh', script, { cwd: place, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const started = performance.now()
    const [output, faults] = await Promise.all([textOf(shell.stdout), textOf(shell.stderr)])
    const { code } = await shell.exited
    const seconds = Math.round((performance.now() - started) / 1_000)
    expect(code, faults).toBe(0)
    const order = JSON.parse(output.trim().split('\n').at(-1) ?? '')
    expect(order).toMatchObject({ state: 'shipped', shipments: 1, returns: {} })
    process.stdout.write(`${language}: shipped after ${seconds} s of commands\n`)
  },
  TEN_MINUTES_MS,
)
