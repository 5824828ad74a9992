/** A filter that is set, in words, and the change of the URL's filters that removes it. */
export interface FilterChip {
  readonly label: string
  readonly value: string
  readonly removal: Readonly<Partial<Record<string, string>>>
}

type Filters = Readonly<Record<string, string>>
type Options = readonly { readonly value: string; readonly label: string }[]

/** A filter of a few known values: its name in the URL, and its words. */
export interface ChoiceFilter<Name extends string> {
  readonly name: Name
  readonly label: string
  readonly options: Options
}

/** The chip of a filter with one value; none while it has its default. `options` give the words of its values; without them any text is one. */
export function chipOf<F extends Filters>(
  filters: F,
  defaults: F,
  name: keyof F & string,
  label: string,
  options: Options = [],
): readonly FilterChip[] {
  const [value = '', usual = ''] = [filters[name], defaults[name]]
  if (value === usual) return []
  const words = options.length === 0 ? value : options.find((option) => option.value === value)?.label
  // An address that somebody sent may hold a value that is no choice: it filters nothing.
  return words === undefined ? [] : [{ label, value: words, removal: { [name]: usual } }]
}
