import { readFileSync, writeFileSync } from 'node:fs'
import { checkSync } from 'recheck'
import ts from 'typescript'
import { sourceFiles } from '../check-folders.ts'

/**
 * Patterns whose time grows with the square of the text and whose text is short whatever anyone sends. The file must bound it as
 * the reason says. Where a pattern can be written in linear form, write it so.
 */
const BOUNDED: Readonly<Record<string, string>> = {
  'shared/chains/families/evm/range-limit.ts': 'json-rpc.ts cuts the message of a node to 1,000 characters',
  'shared/chains/families/evm/rpc-failure.ts': 'json-rpc.ts cuts the message of a node to 1,000 characters',
}

/** Files that build patterns from their own words, never from text of others. */
const BUILT: Readonly<Record<string, string>> = {
  'dev/check-folders.ts': 'the name of a folder',
  'dev/check-networks.ts': 'the ids of networks',
  'dev/check-words.ts': 'the words of its tables',
  'dev/docs/decision-records.ts': 'the form of a link, twice',
  'scripts/release.mjs': 'a version and the names of keys',
}

/** One regular expression of a source file. */
interface Pattern {
  readonly path: string
  /** Counted from 1. */
  readonly line: number
  /** Null for one that is computed, so that it cannot be read here. */
  readonly regex: { readonly source: string; readonly flags: string } | null
}

const TAKE_TEXT_AS_PATTERN: readonly string[] = ['match', 'matchAll', 'search']
const VERDICTS = 'dev/patterns/verdicts.json'

/** Every regular expression of a file: literals, `RegExp(…)` and texts that `match`, `matchAll` and `search` compile. */
export function patternsOf(path: string, text: string): readonly Pattern[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const found: Pattern[] = []
  const add = (node: ts.Node, regex: Pattern['regex']): void => {
    found.push({ path, line: file.getLineAndCharacterOfPosition(node.getStart()).line + 1, regex })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      add(node, { source: node.text.slice(1, end), flags: node.text.slice(end + 1) })
    } else if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      const [first, second] = node.arguments ?? []
      const callee = node.expression
      const isBuilt = ts.isIdentifier(callee) && callee.text === 'RegExp'
      const takesText = ts.isPropertyAccessExpression(callee) && TAKE_TEXT_AS_PATTERN.includes(callee.name.text)
      const isText = first !== undefined && ts.isStringLiteralLike(first)
      const hasFlags = second === undefined || ts.isStringLiteralLike(second)
      if (isText && hasFlags && (isBuilt || takesText)) add(node, { source: first.text, flags: second?.text ?? '' })
      else if (isBuilt && !(first !== undefined && ts.isRegularExpressionLiteral(first))) add(node, null)
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

/**
 * True for patterns of bounded length with at most one choice of a length, such as `^[0-9a-f]{64}$`: no repetition without end, no repeated
 * group. The analyser needs seconds for some of them.
 */
function isPlain(source: string): boolean {
  const bare = source.replace(/\\./gs, 'x').replace(/\[[^\]]*\]?/g, 'x')
  return !/[*+]|,\}|\)[?{]/.test(bare) && (bare.match(/[^(]\?|,\d/g) ?? []).length <= 1
}

/**
 * True when the time of a search with this pattern grows no faster than its text. The analyser has no clock here, and runs in this process
 * instead of a program of its platform, so that its answer is the same on every machine. A pattern that it cannot read is not linear.
 */
export function isLinear(source: string, flags: string): boolean {
  process.env['RECHECK_BACKEND'] = 'pure'
  if (isPlain(source)) return true
  const limits = { timeout: null, incubationTimeout: null, attackTimeout: null, randomSeed: 1 }
  return checkSync(source, flags, limits).status === 'safe'
}

/** What is wrong with the patterns of these files, a line each. `check` is asked once for each pattern. */
export function patternFaults(
  sources: ReadonlyMap<string, string>,
  check: (source: string, flags: string) => boolean = isLinear,
): readonly string[] {
  const verdicts = new Map<string, boolean>()
  const verdictOf = ({ source, flags }: { readonly source: string; readonly flags: string }): boolean => {
    const key = `/${source}/${flags}`
    const verdict = verdicts.get(key) ?? check(source, flags)
    verdicts.set(key, verdict)
    return verdict
  }
  return [...sources].flatMap(([path, text]) =>
    patternsOf(path, text).flatMap(({ line, regex }) => {
      if (regex === null) return path in BUILT ? [] : [`${path}:${line} builds a pattern that cannot be checked`]
      if (path in BOUNDED || verdictOf(regex)) return []
      return [`${path}:${line} needs more than linear time: /${regex.source}/${regex.flags}`]
    }),
  )
}

/** Source files of the product and its tools, by path. */
export function patternSources(): ReadonlyMap<string, string> {
  const paths = sourceFiles('.', ['shared', 'services', 'scripts', 'dev', 'clients']).filter(
    (path) => !path.endsWith('.css'),
  )
  return new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]))
}

interface Verdicts {
  /** Of the analyser. */
  readonly version: string
  readonly linear: readonly string[]
}

/**
 * Patterns that the analyser called linear, from the file that is committed beside this one: it needs up to seconds for one pattern, a minute for all,
 * and its answer depends on nothing else. Another version of the analyser has no verdicts yet.
 */
function committedVerdicts(version: string): ReadonlySet<string> {
  try {
    const stored: Verdicts = JSON.parse(readFileSync(VERDICTS, 'utf8'))
    return new Set(stored.version === version ? stored.linear : [])
  } catch {
    return new Set()
  }
}

/** `--write` stores the verdicts, and `--again` reads none. */
function main(flags: readonly string[]): number {
  const { version } = JSON.parse(readFileSync('node_modules/recheck/package.json', 'utf8'))
  const committed = committedVerdicts(version)
  const known = flags.includes('--again') ? new Set<string>() : committed
  const linear = new Set<string>()
  const sources = patternSources()
  const faults = [
    ...patternFaults(sources, (source, given) => {
      const key = `/${source}/${given}`
      const isSafe = known.has(key) || isLinear(source, given)
      if (isSafe) linear.add(key)
      return isSafe
    }),
  ]
  const text = `${JSON.stringify({ version, linear: [...linear].sort() } satisfies Verdicts, null, 2)}\n`
  const isCurrent = committed.size === linear.size && [...linear].every((key) => committed.has(key))
  if (flags.includes('--write')) writeFileSync(VERDICTS, text)
  else if (!isCurrent && faults.length === 0) faults.push(`${VERDICTS} is not current: npm run gen:patterns`)
  for (const fault of faults) process.stdout.write(`${fault}\n`)
  process.stdout.write(`patterns: ${[...sources].flatMap(([path, text]) => patternsOf(path, text)).length} checked\n`)
  return faults.length === 0 ? 0 : 1
}

if (process.argv[1]?.endsWith('check-patterns.ts')) process.exitCode = main(process.argv.slice(2))
