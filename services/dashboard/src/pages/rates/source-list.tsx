import { droppedText } from '#shared/contracts/rates/rate-labels.ts'
import { showDuration } from '../../format/time.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import type { Board } from './confirm-jump.tsx'

/** Each source by its use: how many of its pairs are in prices, and why the others are not. */
export function SourceList({ sources }: { readonly sources: Board['sources'] }) {
  if (sources.length === 0) return <EmptyState title="No source has responded yet." />
  return (
    <ScrollBox label="Sources">
      <table className="pm-table pm-table-plain pm-num" aria-label="sources">
        <thead>
          <tr>
            <th scope="col">Source</th>
            <th scope="col">Pairs used</th>
            <th scope="col" className="pm-right">
              Last update{' '}
            </th>
          </tr>
        </thead>
        <tbody>
          {sources.map(({ name, used, expected, dropped, ageMs }) => (
            <tr key={name}>
              <td>
                {name}
                <small>{dropped.length === 0 ? null : droppedText(dropped)}</small>
              </td>
              <td>
                <ToneBadge tone={used === 0 ? 'danger' : used < expected ? 'partial' : 'paid'}>
                  {used === 0 ? 'None' : `${used} of ${expected}`}
                </ToneBadge>
              </td>
              <td className="pm-right">{ageMs === null ? 'never' : `${showDuration(ageMs)} ago`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}
