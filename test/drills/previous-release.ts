import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '#scripts/bundle.mjs'

const git = (...args: readonly string[]): string =>
  execFileSync('git', [...args], { cwd: ROOT, encoding: 'utf8' }).trim()

/**
 * The tag of the newest release before this commit; null when there was none. Throws in a clone without history, and when the changelog has a
 * release before the present version but the repository has no tag of any: then there is a release to upgrade from.
 */
export function previousTag(): string | null {
  if (git('rev-parse', '--is-shallow-repository') === 'true')
    throw new Error('this clone has no history, hence no tag of the release before: git fetch --unshallow --tags')
  const here = new Set(git('tag', '--points-at', 'HEAD').split('\n'))
  const tags = git('tag', '--list', 'v[0-9]*', '--merged', 'HEAD', '--sort=-v:refname').split('\n')
  const tag = tags.find((name) => name !== '' && !here.has(name))
  if (tag !== undefined) return tag
  const version = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version as string
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')
  const before = [...changelog.matchAll(/^## \[(\d+\.\d+\.\d+)\]/gm)].find(([, number]) => number !== version)?.[1]
  if (before !== undefined)
    throw new Error(`CHANGELOG.md has release ${before}, but this clone has no tag of it: git fetch --tags`)
  return null
}

/** A checkout of an earlier release. */
export interface EarlierCheckout {
  readonly folder: string
  /** Removes the checkout. */
  remove(): void
}

/** Checks a tag or commit out into a temporary folder; its packages are those installed here. Throws when git does not have it. */
export function checkOut(revision: string): EarlierCheckout {
  const parent = mkdtempSync(join(tmpdir(), 'paymesh-earlier-'))
  const folder = join(parent, 'checkout')
  const remove = (): void => {
    rmSync(parent, { recursive: true, force: true })
    git('worktree', 'prune')
  }
  try {
    git('worktree', 'add', '--quiet', '--detach', folder, revision)
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  } catch (error) {
    remove()
    throw new Error(`${revision} could not be checked out; the drill needs the history of this repository`, {
      cause: error,
    })
  }
  return { folder, remove }
}
