import { NativeSelect } from '@mantine/core'
import { useState } from 'react'
import { DiffTable } from '../webhooks/diff-table.tsx'
import { answerLabel } from '../webhooks/labels.tsx'
import { type ComparedAttempt, compareAttempts } from './compare-attempts.ts'

/** Two attempts of a delivery side by side: at first the last two. Nothing while there are fewer. */
export function AttemptDifferences({ past }: { readonly past: readonly ComparedAttempt[] }) {
  const [chosen, setChosen] = useState<{ readonly left?: number; readonly right?: number }>({})
  const newest = past.length - 1
  if (newest < 1) return null
  const [left, right] = [chosen.left ?? newest - 1, chosen.right ?? newest]
  const [before, after] = [past[left], past[right]]
  if (before === undefined || after === undefined) return null
  const { different, same } = compareAttempts(before, after)
  // A request whose lease was lost has the same number as the following one: places tell them apart.
  const options = past.map(({ number, statusCode, error }, place) => ({
    value: String(place),
    label: `Attempt ${number}: ${answerLabel({ lastStatusCode: statusCode, lastError: error })}`,
  }))
  return (
    <section>
      <h3>What differs between attempts</h3>
      <div className="pm-row pm-gap-bottom">
        <NativeSelect
          size="xs"
          aria-label="Compare attempt"
          data={options}
          value={String(left)}
          onChange={({ currentTarget }) => setChosen({ ...chosen, left: Number(currentTarget.value) })}
        />
        <span className="pm-muted">with</span>
        <NativeSelect
          size="xs"
          aria-label="with attempt"
          data={options}
          value={String(right)}
          onChange={({ currentTarget }) => setChosen({ ...chosen, right: Number(currentTarget.value) })}
        />
      </div>
      {different.length === 0 ? (
        <p>Both were answered in the same way.</p>
      ) : (
        <DiffTable
          label="Differences between attempts"
          nameHeader="What"
          sides={[`${before.number}`, `${after.number}`]}
          rows={different}
        />
      )}
      <p className="pm-dim pm-small">
        {same.length === 0 ? null : `The same in both: ${same.join(', ').toLowerCase()}. `}
        The body and its ID are sent unchanged with every attempt; of the headers only time and signature differ.
      </p>
    </section>
  )
}
