import { execFile } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onPath } from '#dev/embedded/binary-cache.ts'
import { freePort } from '#dev/embedded/free-port.ts'
import { startGuarded } from '#dev/embedded/guarded-child.ts'
import { until } from './until.ts'

const run = promisify(execFile)
const DEBIAN = '/usr/lib/postgresql'

/** A PostgreSQL server in a folder, gone with this process. */
export interface Postgres {
  createDatabase(name: string): Promise<string>
  /** The rows that a query prints, with `|` between their columns. */
  query(database: string, sql: string): Promise<readonly string[]>
  stop(): Promise<void>
}

/** The folder of PostgreSQL's programs; Debian has only some of them on the PATH. */
function binaries(): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  const folder = versions.map((version) => join(DEBIAN, version, 'bin')).find((bin) => existsSync(join(bin, 'initdb')))
  const found = folder ?? onPath('initdb')?.replace(/\/initdb$/, '')
  if (found === undefined) throw new Error('PostgreSQL is not installed')
  return found
}

/** PostgreSQL refuses to run as root: there it gets the user that its package made. */
async function asServer(folder: string): Promise<readonly string[]> {
  if (process.getuid?.() !== 0) return []
  const id = async (option: string): Promise<number> => Number((await run('id', [option, 'postgres'])).stdout)
  chownSync(folder, await id('-u'), await id('-g'))
  return ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups']
}

/** Makes a cluster in a separate folder, which its user can enter, and starts it on a free port; resolves when it answers. */
export async function startPostgres(): Promise<Postgres> {
  const bin = binaries()
  const folder = mkdtempSync(join(tmpdir(), 'paymesh-postgres-'))
  const prefix = await asServer(folder)
  const [program = '', ...rest] = [...prefix, join(bin, 'initdb'), '-D', folder, '-U', 'shop', '-A', 'trust', '-N']
  await run(program, rest, { cwd: '/' })
  const port = await freePort(0)
  const settings = ['-h', '127.0.0.1', '-p', String(port), '-c', 'fsync=off', '-k', '']
  const [server = '', ...args] = [...prefix, join(bin, 'postgres'), '-D', folder, ...settings]
  const child = await startGuarded(server, args, { cwd: '/', stdio: ['ignore', 'ignore', 'ignore'] })
  const query = async (database: string, sql: string): Promise<readonly string[]> => {
    const at = ['-h', '127.0.0.1', '-p', String(port), '-U', 'shop', '-d', database]
    const { stdout } = await run(join(bin, 'psql'), [...at, '-v', 'ON_ERROR_STOP=1', '-tAc', sql])
    return stdout.split('\n').filter((line) => line !== '')
  }
  await until(
    'PostgreSQL answers',
    async () =>
      await query('postgres', 'select 1').then(
        () => true,
        () => false,
      ),
  )
  return {
    query,
    createDatabase: async (name) => {
      await query('postgres', `create database ${name}`)
      return `postgres://shop@127.0.0.1:${port}/${name}`
    },
    stop: async () => {
      await child.stop(5_000)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
