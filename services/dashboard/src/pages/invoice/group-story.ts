interface Entry {
  readonly id: string
  readonly kind: string
  readonly event: { readonly id: string } | null
}

/** The entries of a timeline that stand for themselves, and the deliveries that stand below their event. */
export interface GroupedStory<T> {
  readonly moments: readonly T[]
  readonly deliveriesOf: (entry: T) => readonly T[]
}

/** Groups deliveries below their event. Of one `kind`, or of `all`; deliveries alone, and those whose event is not listed, stand for themselves. */
export function groupStory<T extends Entry>(entries: readonly T[], kind: string): GroupedStory<T> {
  const events = new Set(entries.flatMap((entry) => (entry.kind === 'event' && entry.event ? [entry.event.id] : [])))
  const isGrouped = ({ kind: own, event }: T) => own === 'delivery' && event !== null && events.has(event.id)
  const moments =
    kind === 'all' ? entries.filter((entry) => !isGrouped(entry)) : entries.filter((entry) => entry.kind === kind)
  return {
    moments,
    deliveriesOf: (entry) =>
      entry.kind === 'event' && kind !== 'delivery'
        ? entries.filter((one) => one.kind === 'delivery' && one.event?.id === entry.event?.id)
        : [],
  }
}
