import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '#scripts/bundle.mjs'

/** A checkout of an earlier commit. */
export interface EarlierCheckout {
  readonly folder: string
  /** Removes the checkout, unless it was given to us. */
  remove(): void
}

const git = (...args: readonly string[]): string =>
  execFileSync('git', [...args], { cwd: ROOT, encoding: 'utf8' }).trim()

/**
 * Checks a commit of this repository out into a temporary folder; its packages are the ones installed here. Throws when git does not
 * have the commit, as in a clone without history.
 */
export function checkOutEarlier(commit: string): EarlierCheckout {
  const parent = mkdtempSync(join(tmpdir(), 'paymesh-earlier-'))
  const folder = join(parent, 'checkout')
  const remove = (): void => {
    rmSync(parent, { recursive: true, force: true })
    git('worktree', 'prune')
  }
  try {
    git('worktree', 'add', '--quiet', '--detach', folder, commit)
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  } catch (error) {
    remove()
    throw new Error(`commit ${commit} could not be checked out; the drill needs the history of this repository`, {
      cause: error,
    })
  }
  return { folder, remove }
}
