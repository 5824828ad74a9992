import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import ts from 'typescript'

/**
 * Words of the project's own dialect, and the field's term for each. A word is found in prose and inside identifiers of any case.
 * Each of them stopped a new reader at least once; do not use them in code, documents, pages or commits.
 */
export const BANNED: ReadonlyMap<string, string> = new Map([
  ['deed', 'action'],
  ['kick', 'wake-up, notify'],
  ['kicker', 'queue notifier'],
  ['judge', 'check, evaluate, classify'],
  ['judged', 'checked'],
  ['judgement', 'check'],
  ['noted', 'audited, recorded'],
  ['stray', 'unmatched transfer'],
  ['sighting', 'observation'],
  ['tenancy', 'workspaces'],
  ['ambient', 'runtime'],
  ['catalogue', 'catalog (assets and networks), products'],
  ['anew', 'again'],
])

/** Parts of identifiers that are fine as words of prose: books of orders, a wish, a rise. */
export const BANNED_IDENTIFIERS: ReadonlyMap<string, string> = new Map([
  ['checkBooks', 'reconcile'],
  ['judgeBooks', 'checkRecords'],
  ['BooksRepository', 'ReconciliationRepository'],
  ['ExceptionDesk', 'ExceptionDecisions'],
  ['DeskEntry', 'ExceptionEntry'],
  ['readFloors', 'lowWaterMarks'],
  ['numberFloor', 'lastIssuedNumber'],
  ['BalanceRise', 'BalanceIncrease'],
  ['untold', 'unrecorded'],
  ['wish', 'request'],
  ['told', 'published, recorded'],
  ['riseKey', 'increaseKey'],
  ['ProcessBeats', 'ProcessHeartbeats'],
  ['LOOK_EVERY_MS', 'POLL_EVERY_MS'],
  ['STATUS_WORDS', 'STATUS_LABELS'],
  ['AssetLock', 'PaymentMethod'],
  ['lockedAt', 'quotedAt'],
  ['asset_locked', 'asset_chosen'],
  ['inactive_lock', 'inactive_payment_method'],
  ['lockCount', 'methodCount'],
  ['otherLocks', 'otherMethods'],
  ['holdingLock', 'holdingMethod'],
  ['TryLanes', 'HashingLimiter'],
  ['progressTeller', 'progressPrinter'],
  ['unlessUnclear', 'ignoreUnclear'],
  ['standingOf', 'addressStanding'],
  ['mayPromise', 'stillOwned'],
  ['claimAndPoll', 'claimAndRead'],
  ['LockView', 'PaymentMethodView'],
  ['books_failed_total', 'reconciliation_failed_total'],
  ['operators_desk_failed_total', 'maintenance_failed_total'],
  ['kicks_dropped_total', 'wakeups_dropped_total'],
])

/** History and stored data keep their words: the changelog, migrations, data of earlier releases, and this list. */
const EXEMPT = [
  'CHANGELOG.md',
  'package-lock.json',
  'dev/check-words',
  'shared/db/schema/migrations/',
  'test/fixtures/',
  'docs/screenshots/',
  'docs/upgrading.md',
]

/** Names that stored data, old pages and old commands still use, each only in the place that reads them. */
const KEPT: ReadonlyMap<string, RegExp> = new Map([
  ['shared/db/exceptions/exception-model.ts', /exception_desk_\w+/g],
  ['shared/usecases/exceptions/decide-exception.ts', /exception\.noted/g],
  ['shared/contracts/audit-labels.ts', /exception\.noted/g],
  ['shared/domain/marks/taken-back.ts', /exception\.noted/g],
  // The verdicts repeat the patterns of this file.
  ['dev/patterns/verdicts.json', /noted/g],
])

/** Words for what a program does to a server, a node or a store: request, query or read. */
const ASKING: ReadonlySet<string> = new Set(['ask', 'asks', 'asked', 'asking', 'asker', 'unasked'])
/** One side of an order book, and the fields of exchanges for it, where prices are read. */
const ASK_PRICE = /^ask(Px|Sz|Price|Qty)?$/
const PRICES = /^(services\/rates|dev\/exchange-simulator|shared\/domain\/rates)\//
/** The commonest participles; as the whole name of a type they leave out what the thing is. */
const PARTICIPLE_TYPE = new RegExp(
  `^(?:export )?(?:declare )?(?:interface|type|class) ((?:${[
    ...[
      'Added',
      'Asked',
      'Done',
      'Ended',
      'Entered',
      'Explained',
      'Found',
      'Gathered',
      'Given',
      'Held',
      'Kept',
      'Known',
    ],
    ...[
      'Listed',
      'Loaded',
      'Lost',
      'Made',
      'Missing',
      'Moved',
      'Named',
      'Opened',
      'Owned',
      'Parsed',
      'Placed',
      'Prepared',
    ],
    ...['Priced', 'Read', 'Recorded', 'Refused', 'Reported', 'Running', 'Seen', 'Sent', 'Shown', 'Skipped', 'Started'],
    ...['Stored', 'Taken', 'Tried', 'Waiting', 'Wanted', 'Watched', 'Written'],
  ].join('|')}))\\b`,
)

/** A banned word in a text, with its line. */
export interface FoundWord {
  readonly path: string
  /** Counted from 1. */
  readonly line: number
  readonly word: string
  readonly better: string
}

const plural = (word: string) => `${word}s?`
/** A word that stands alone or as a part of camelCase, PascalCase, kebab-case or snake_case. */
const wordPattern = (word: string) => {
  const capital = `${word[0]?.toUpperCase()}${word.slice(1)}`
  return `(?<![A-Za-z])${plural(word)}(?![a-z])|(?<![A-Z])${plural(capital)}(?![a-z])|(?<![A-Z])${word.toUpperCase()}S?(?![A-Z])`
}
/** `wish` and `told` are English words; only parts of identifiers match: `EndpointWish`, `wishOf`. A name with a capital or `_` must match as a whole. */
const identifierPattern = (word: string) => {
  if (!/^[a-z]+$/.test(word)) return `\\b${word}\\b`
  const capital = `${word[0]?.toUpperCase()}${word.slice(1)}`
  return `(?<=[a-z])${capital}(?![a-z])|\\b${word}(?=[A-Z])|\\b${capital}(?=[A-Z])`
}
const PATTERNS = [
  ...[...BANNED].map(([word, better]) => ({ word, better, pattern: new RegExp(wordPattern(word), 'g') })),
  ...[...BANNED_IDENTIFIERS].map(([word, better]) => ({
    word,
    better,
    pattern: new RegExp(identifierPattern(word), 'g'),
  })),
]

/** The banned words of one file, in its order. */
export function findBannedWords(path: string, text: string): readonly FoundWord[] {
  if (EXEMPT.some((exempt) => path.startsWith(exempt))) return []
  const kept = KEPT.get(path)
  const lines = (kept === undefined ? text : text.replace(kept, '')).split('\n')
  return lines.flatMap((line, index) =>
    PATTERNS.filter(({ pattern }) => line.search(pattern) >= 0).map(({ word, better }) => ({
      path,
      line: index + 1,
      word,
      better,
    })),
  )
}

/**
 * Names of a TypeScript file that say `ask`, among them one-word strings of several parts as `reset_asked`, and types whose whole name is
 * a participle. Prose may ask.
 */
export function findBadNames(path: string, text: string): readonly FoundWord[] {
  if (!/\.m?tsx?$|\.mjs$/.test(path) || EXEMPT.some((exempt) => path.startsWith(exempt))) return []
  const types = text.split('\n').flatMap((line, index) => {
    const word = PARTICIPLE_TYPE.exec(line)?.[1]
    return word === undefined ? [] : [{ path, line: index + 1, word, better: 'a noun: what the thing is' }]
  })
  if (!/ask/i.test(text)) return types
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
  const found: FoundWord[] = [...types]
  const visit = (node: ts.Node): void => {
    const word = nameOf(node)
    if (word !== null && saysAsk(word) && !(ASK_PRICE.test(word) && PRICES.test(path))) {
      const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1
      found.push({ path, line, word, better: 'request, query, read' })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

/** An identifier, or a string that is a name of several parts. */
function nameOf(node: ts.Node): string | null {
  if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) return node.text
  const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)
  return isText && /^(?=.*[A-Z_.:-])[\w.:-]+$/.test(node.text) ? node.text : null
}

const saysAsk = (name: string): boolean =>
  name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).some((part) => ASKING.has(part.toLowerCase()))

/** Text files under version control, by path. */
export function trackedTexts(): ReadonlyMap<string, string> {
  const paths = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  })
    .split('\0')
    .filter((path) => /\.(ts|tsx|mjs|mts|md|json|yml|yaml|css|html|sh)$|^Procfile$/.test(path))
  return new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]))
}

if (process.argv[1]?.endsWith('check-words.ts')) {
  const found = [...trackedTexts()].flatMap(([path, text]) => [
    ...findBannedWords(path, text),
    ...findBadNames(path, text),
  ])
  for (const { path, line, word, better } of found) {
    process.stderr.write(`${path}:${line}: "${word}" is a banned word; say: ${better}\n`)
  }
  if (found.length > 0) process.exitCode = 1
}
