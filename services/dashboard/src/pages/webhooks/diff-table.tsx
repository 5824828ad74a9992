import { ScrollBox } from '../../parts/scroll-box.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'

/** A fact that differs; a side is null where it has none. */
export interface Difference {
  readonly name: string
  readonly before: string | null
  readonly after: string | null
}

/** Facts that differ, with both sides beside each other. `sides` head the columns. */
export function DiffTable(props: {
  readonly label: string
  readonly nameHeader: string
  readonly sides: readonly [string, string]
  readonly rows: readonly Difference[]
}) {
  const { label, nameHeader, sides, rows } = props
  return (
    <ScrollBox label={label}>
      <table className="pm-table pm-table-plain pm-diff" aria-label={label}>
        <thead>
          <tr>
            {[nameHeader, ...sides].map((header) => (
              <th key={header} scope="col">
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, before, after }) => (
            <tr key={name}>
              <th scope="row">
                <UntrustedText mono>{name}</UntrustedText>
              </th>
              <td>{before === null ? <span className="pm-dim">–</span> : <Value mark="del">{before}</Value>}</td>
              <td>{after === null ? <span className="pm-dim">–</span> : <Value mark="ins">{after}</Value>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}

function Value({ mark: Mark, children }: { readonly mark: 'del' | 'ins'; readonly children: string }) {
  return (
    <Mark>
      <UntrustedText mono>{children}</UntrustedText>
    </Mark>
  )
}
