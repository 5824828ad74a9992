/** Commands and options of the release before 0.2 and their current names; they work until the next release. */
const FORMER: readonly (readonly [former: readonly string[], current: readonly string[]])[] = [
  [
    ['keys', 'rotate-master'],
    ['master-key', 'rotate'],
  ],
  [['key'], ['api-key']],
  [['exceptions'], ['exception']],
  [['check-books'], ['reconcile']],
  [['verify-audit'], ['audit', 'verify']],
  [
    ['restore', 'archive'],
    ['backup', 'restore'],
  ],
  [
    ['restore', 'confirm'],
    ['backup', 'confirm-restore'],
  ],
]
const FORMER_OPTIONS: ReadonlyMap<string, string> = new Map([['--noted', '--since']])

/** A command line with its current names, and a hint for the person who typed a former one; `hint` is null without one. */
export function withCurrentName(args: readonly string[]): {
  readonly current: readonly string[]
  readonly hint: string | null
} {
  const start = args[0] === '--data' ? 2 : args[0]?.startsWith('--data=') === true ? 1 : 0
  const words = args.slice(start)
  const found = FORMER.find(([former]) => former.every((word, index) => words[index] === word))
  if (found === undefined) return { current: args, hint: null }
  const [former, current] = found
  const rest = words.slice(former.length).map((word) => {
    const [name = '', ...value] = word.split('=')
    return [FORMER_OPTIONS.get(name) ?? name, ...value].join('=')
  })
  const hint = `"paymesh ${former.join(' ')}" is now "paymesh ${current.join(' ')}"; the former name stops working with the next release.`
  return { current: [...args.slice(0, start), ...current, ...rest], hint }
}
