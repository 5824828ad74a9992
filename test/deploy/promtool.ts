import { spawnSync } from 'node:child_process'

/** Runs promtool, a part of Prometheus that Debian's package `prometheus` has. Throws when it is missing. */
export function promtool(
  folder: string,
  ...args: readonly string[]
): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' })
  if (error !== undefined) throw new Error('promtool is missing: apt-get install prometheus', { cause: error })
  return { status, output: `${stdout}${stderr}` }
}
