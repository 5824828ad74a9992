import { existsSync, readFileSync } from 'node:fs'

/** A path in the text: several parts, or a file with an extension that the repository uses. */
const PATH = /`((?:[\w.-]+\/)+[\w.-]*)`/g

/** The part of CONTRIBUTING.md from its heading "Recipes" on; empty when there is none. */
export function recipesOf(text: string): string {
  const start = text.indexOf('## Recipes')
  return start === -1 ? '' : text.slice(start)
}

/** Every path in the recipes. */
export function pathsIn(recipes: string): readonly string[] {
  return [...recipes.matchAll(PATH)].flatMap(([, path]) => (path === undefined ? [] : [path]))
}

/** Fewer paths than this mean that the format of the text changed and nothing was checked. */
const PATHS_MIN = 30
const RECIPES_MIN = 10

/** Faults of the recipes; empty when every path exists. */
export function recipeFaults(text: string, exists: (path: string) => boolean = existsSync): readonly string[] {
  const recipes = recipesOf(text)
  const paths = pathsIn(recipes)
  const count = [...recipes.matchAll(/^\d+\. \*\*/gm)].length
  return [
    ...(count < RECIPES_MIN ? [`only ${count} of ${RECIPES_MIN} recipes were found`] : []),
    ...(paths.length < PATHS_MIN ? [`only ${paths.length} paths were found; at least ${PATHS_MIN} are expected`] : []),
    ...paths.filter((path) => !exists(path)).map((path) => `${path} does not exist`),
  ]
}

if (process.argv[1]?.endsWith('check-recipes.ts')) {
  const faults = recipeFaults(readFileSync('CONTRIBUTING.md', 'utf8'))
  for (const fault of faults) process.stdout.write(`CONTRIBUTING.md: ${fault}\n`)
  process.exitCode = faults.length === 0 ? 0 : 1
}
