const GROUP = 4

/** A whole address in groups of four, the first and the last one emphasised; a copied text has no spaces. */
export function GroupedAddress({ address }: { readonly address: string }) {
  // The first group takes the remainder, so that the last one is whole.
  const first = GROUP + (address.length % GROUP)
  const groups = [address.slice(0, first), ...(address.slice(first).match(/.{4}/g) ?? [])]
  return (
    <span className="pm-compare" translate="no">
      <b>{groups[0]}</b> {groups.slice(1, -1).join(' ')} <b>{groups.length > 1 ? groups.at(-1) : ''}</b>
    </span>
  )
}
