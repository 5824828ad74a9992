import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { readPrivate, writePrivate } from './private-file.ts'

/**
 * Reserves a data folder for this process. Throws with the other's process id when a running start has it;
 * a crashed start does not block. Returns a function that releases it.
 */
export function lockDataDir(dataDir: string): () => void {
  const file = join(dataDir, 'start.lock')
  mkdirSync(dataDir, { recursive: true })
  const holder = readPrivate<{ readonly pid: number; readonly startedAt: string }>(file)
  if (holder !== null && startedAt(holder.pid) === holder.startedAt) {
    throw new Error(
      `Paymesh is already running on ${dataDir} (process ${holder.pid}). Stop it first, or set another folder with --data.`,
    )
  }
  writePrivate(file, { pid: process.pid, startedAt: startedAt(process.pid) })
  return () => rmSync(file, { force: true })
}

/** When a process started, to distinguish it from a later one with the same id; null when there is none. */
function startedAt(pid: number): string | null {
  try {
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    // proc(5): field 22, counted after the name in parentheses, which may contain blanks.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}
