import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '#scripts/bundle.mjs'

/** A test that a document names: its file, and its title as it stands there. */
export type Citation = readonly [file: string, title: string]

/** The tests that a text cites in the form "`file` › `title`". */
export function citationsIn(text: string): readonly Citation[] {
  return [...text.matchAll(/`([^`]+\.test\.ts)` › `([^`]+)`/g)].map(([, file = '', title = '']) => [file, title])
}

/** Why a citation is wrong; null when a test of that title is in that file. */
export function citationProblem([file, title]: Citation): string | null {
  if (!existsSync(join(ROOT, file))) return `no file ${file}`
  const source = readFileSync(join(ROOT, file), 'utf8').replaceAll("\\'", "'")
  return [`'${title}'`, `"${title}"`, `\`${title}\``].some((literal) => source.includes(literal))
    ? null
    : `no test "${title}" in ${file}`
}

/**
 * Why a test that guards money or secrets is not there before each commit; null when `npm test` runs it. It is declared by `deepTest` or
 * within `deepDescribe`, or stands in a file of the deep tier.
 */
export function absenceFromEveryRun([file, title]: Citation): string | null {
  if (file.includes('.deep.')) return `${file} is not in npm test`
  const source = existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8').replaceAll("\\'", "'") : ''
  const literals = [`'${title}'`, `"${title}"`, `\`${title}\``]
  const isDeep = literals.some((literal) => {
    const at = source.indexOf(literal)
    return at >= 0 && declarationsAround(source.slice(0, at)).some((name) => name.startsWith('deep'))
  })
  return isDeep ? `"${title}" in ${file} is not in npm test` : null
}

/** What declares the test whose title follows this text, and the groups around it, from the inside; the source is indented by Biome. */
function declarationsAround(before: string): readonly string[] {
  const found: string[] = []
  let inside = Number.POSITIVE_INFINITY
  for (const [, indent = '', name = ''] of [
    ...before.matchAll(/^( *)(it|test|deepTest|describe|deepDescribe)(?=[.(<])/gm),
  ].toReversed()) {
    if (indent.length >= inside) continue
    inside = indent.length
    found.push(name)
  }
  return found
}
