import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { errorText } from '#shared/contracts/error-text.ts'

/** Reports progress to the waiting person; one short line each time. */
export type Report = (line: string) => void

/** Per-user folder for downloaded programs, shared by projects and clones (XDG Base Directory Specification). */
export function binaryCacheDir(): string {
  const base = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  return join(base, 'paymesh', 'bin')
}

/** Absolute path of a program on PATH, or null. */
export function onPath(program: string): string | null {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const candidate = join(folder, program)
    if (folder !== '' && isFile(candidate)) return candidate
  }
  return null
}

/** The binary named by an environment variable. Throws when the variable is set to something that does not run. */
function fromVariable(name: string): string | null {
  const path = process.env[name]
  if (path === undefined || path === '') return null
  if (!runs(path)) throw new Error(`${name} is ${path}, which does not run; point it at a working program or unset it`)
  return path
}

/** True when the program responds to `--version` on this machine: a binary for another libc or OpenSSL does not. */
export function runs(path: string): boolean {
  try {
    execFileSync(path, ['--version'], { stdio: 'ignore', timeout: 15_000 })
    return true
  } catch {
    return false
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/**
 * Runs `work` while this process alone holds the lock `name` in the cache; others wait for it. A lock of a dead
 * process is taken over.
 */
export async function withCacheLock<T>(name: string, work: () => Promise<T>): Promise<T> {
  const lock = join(binaryCacheDir(), `${name}.lock`)
  mkdirSync(binaryCacheDir(), { recursive: true })
  while (!take(lock)) {
    if (!holderLives(lock)) rmSync(lock, { force: true })
    else await delay(200)
  }
  try {
    return await work()
  } finally {
    rmSync(lock, { force: true })
  }
}

function take(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch {
    return false
  }
}

function holderLives(lock: string): boolean {
  try {
    const pid = Number.parseInt(readFileSync(lock, 'utf8'), 10)
    // An empty file means a holder between creating and writing; wait a moment, but not forever.
    if (!Number.isSafeInteger(pid)) return Date.now() - statSync(lock).mtimeMs < 2_000
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The cached program of that name if it exists and runs. */
function cached(program: string): string | null {
  const path = join(binaryCacheDir(), program)
  return existsSync(path) && runs(path) ? path : null
}

/** A program that runs on this machine: the one in the variable, on PATH or in the user's cache; null without any. Throws as `fromVariable`. */
export const installed = (program: string, variable: string): string | null =>
  fromVariable(variable) ?? onPath(program) ?? cached(program)

/**
 * The installed program, otherwise that of the first source that gives one, once, into the cache. Throws one error that lists the attempts
 * and `help`: what to install or set.
 */
export async function findProgram(
  program: string,
  {
    variable,
    sources,
    help,
  }: {
    readonly variable: string
    readonly sources: readonly (() => Promise<string>)[]
    readonly help: string
  },
): Promise<string> {
  const found = installed(program, variable)
  if (found !== null) return found
  return await withCacheLock(program, async () => {
    const own = cached(program)
    if (own !== null) return own
    const tried = new Set<string>()
    for (const source of sources) {
      try {
        return await source()
      } catch (error) {
        tried.add(errorText(error))
      }
    }
    throw new Error(`No ${program} found, and none could be fetched:\n  - ${[...tried].join('\n  - ')}\n${help}`)
  })
}
