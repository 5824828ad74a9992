import { Button } from '@mantine/core'
import { useState } from 'react'
import { Hint } from '../../parts/hint.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'

/** Maximum for one confirmation: the server takes no more. */
const MAX = 50

/** What can be done with the selected exceptions; nothing while none is selected. */
export function BulkBar(props: {
  readonly chosen: ReadonlySet<string>
  readonly onChange: (chosen: ReadonlySet<string>) => void
}) {
  const { chosen, onChange } = props
  const [ids, setIds] = useState<readonly string[] | null>(null)
  const Dialog = useLoaded(
    ids !== null,
    async () => (await import('./bulk-dialog.tsx')).BulkDialog,
    () => setIds(null),
  )
  const tooMany = chosen.size > MAX
  return (
    <>
      {chosen.size === 0 ? null : (
        <div className="pm-card-body pm-row">
          <Hint label={tooMany ? `At most ${MAX} at once.` : 'Shows a preview first'}>
            <Button size="xs" disabled={tooMany} onClick={() => setIds([...chosen])}>
              Decide {chosen.size} selected …
            </Button>
          </Hint>
          <Button size="xs" variant="default" onClick={() => onChange(new Set())}>
            Clear selection
          </Button>
          {tooMany ? <span className="pm-small">At most {MAX} at once.</span> : null}
        </div>
      )}
      {Dialog === null ? null : (
        <Dialog
          ids={ids ?? []}
          open={ids !== null}
          onClose={() => setIds(null)}
          onDone={(done) => onChange(new Set([...chosen].filter((id) => !done.includes(id))))}
        />
      )}
    </>
  )
}
