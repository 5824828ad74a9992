/** Most spans that are kept: one for each change of the node in use. */
const SPANS_MAX = 256

/** Remembers who gave the blocks that were scanned; a few numbers for any number of blocks. */
export interface BlockSources<S> {
  /** Blocks `from`…`to` came from this source. What was known of these and all higher ones is forgotten: they were replaced. */
  note(source: S, from: number, to: number): void
  /** Who gave the block at a height last; undefined when that is unknown, as for everything before this process began. */
  of(height: number): S | undefined
}

/** Knows nothing yet. */
export function createBlockSources<S>(): BlockSources<S> {
  let spans: readonly { readonly source: S; readonly from: number; readonly to: number }[] = []
  return {
    note(source, from, to) {
      const below = spans
        .filter((span) => span.from < from)
        .map((span) => (span.to < from ? span : { ...span, to: from - 1 }))
      const last = below.at(-1)
      const joins = last !== undefined && last.source === source && last.to === from - 1
      spans = [...(joins ? below.slice(0, -1) : below), { source, from: joins ? last.from : from, to }].slice(
        -SPANS_MAX,
      )
    },
    of: (height) => spans.findLast((span) => span.from <= height && height <= span.to)?.source,
  }
}
