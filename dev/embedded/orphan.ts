import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** Evidence that a process is the store of a data folder: its command line or its working directory names the folder. */
export interface OrphanQuery {
  /** File to which the store itself wrote its process id. */
  readonly pidFile: string
  /** Part of the program's name. */
  readonly program: string
  /** Absolute path of the data folder. */
  readonly dir: string
}

/**
 * Ends a store that outlived a crashed start and still uses the data folder. Only a process that is proven to be ours
 * is touched: process ids are reused. Resolves true when one was ended.
 */
export async function endOrphan(query: OrphanQuery): Promise<boolean> {
  const pid = readPid(query.pidFile)
  if (pid === null || !isOurs(pid, query)) return false
  signal(pid, 'SIGTERM')
  for (let waited = 0; waited < 10_000; waited += 50) {
    if (!isOurs(pid, query)) return true
    if (waited === 6_000) signal(pid, 'SIGKILL')
    await delay(50)
  }
  throw new Error(`process ${pid} (${query.program}) still holds ${query.dir}; end it and start again`)
}

function readPid(file: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8').trim(), 10)
    return Number.isSafeInteger(pid) && pid > 1 ? pid : null
  } catch {
    return null
  }
}

function isOurs(pid: number, { program, dir }: OrphanQuery): boolean {
  const command = commandLine(pid)
  return command?.includes(program) === true && (command.includes(dir) || workingDirectory(pid) === dir)
}

/** Null for a process that has ended, and for a zombie, which has no command line. */
function commandLine(pid: number): string | null {
  try {
    const text =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        : execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
    return text.trim() === '' ? null : text
  } catch {
    return null
  }
}

function workingDirectory(pid: number): string | null {
  try {
    if (process.platform === 'linux') return readlinkSync(`/proc/${pid}/cwd`)
    const listing = execFileSync('lsof', ['-a', '-p', String(pid), '-d', 'cwd', '-Fn'], { encoding: 'utf8' })
    return (
      listing
        .split('\n')
        .find((line) => line.startsWith('n'))
        ?.slice(1) ?? null
    )
  } catch {
    return null
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It ended in between.
  }
}
