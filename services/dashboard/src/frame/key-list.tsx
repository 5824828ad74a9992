/** Keys of the keyboard and what each does, as `.pm-keys` draws them. */
export function KeyList({ keys }: { readonly keys: readonly (readonly [keys: string, what: string])[] }) {
  return (
    <dl className="pm-keys">
      {keys.map(([names, what]) => (
        <div key={names}>
          <dt>
            <kbd>{names}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  )
}
