import { Button, Radio } from '@mantine/core'
import { useState } from 'react'
import { SCRIPT_TYPES, type ScriptType } from '#shared/domain/script-type.ts'
import { failureOf } from '../../api/failure.ts'
import { api } from '../../api/trpc.ts'
import { Card, Note } from '../../parts/card.tsx'
import { useScope } from '../../session/scope.ts'
import { SCRIPT_LABELS } from '../wallets/labels.ts'
import type { Entry, KeyPreview, Preview } from './entry.ts'
import { GroupedAddress } from './grouped-address.tsx'

/** Lets a person choose the address type of a key that does not determine it; the first address of each type is shown. */
export function ChooseStep(props: {
  readonly entered: Entry
  readonly choices: KeyPreview['choices']
  readonly onBack: () => void
  readonly onPrepared: (entered: Entry, preview: Preview) => void
}) {
  const { entered, choices, onBack, onPrepared } = props
  const scope = useScope()
  const [chosen, setChosen] = useState<ScriptType | 'none' | null>(null)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const goOn = async (scriptType: ScriptType) => {
    setBusy(true)
    setProblem(null)
    const next = { ...entered, scriptType }
    try {
      onPrepared(next, await api.wallets.prepare.mutate({ ...scope, ...next }))
    } catch (error) {
      setProblem(failureOf(error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Card>
      <div className="pm-stack">
        <h2>Which is the first receive address in your wallet?</h2>
        <p>
          This key does not state its address type. Open the wallet it came from and choose the address shown there.
        </p>
        <Radio.Group
          aria-label="First receive address"
          value={chosen ?? ''}
          onChange={(next) => setChosen(SCRIPT_TYPES.find((type) => type === next) ?? 'none')}
        >
          {choices.map(({ scriptType, address }) => (
            <Radio
              key={scriptType}
              mt="xs"
              value={scriptType}
              label={SCRIPT_LABELS[scriptType]}
              description={<GroupedAddress address={address} />}
            />
          ))}
          <Radio mt="xs" value="none" label="None of these" />
        </Radio.Group>
        {chosen === 'none' ? (
          <Note tone="danger">
            Don’t use this key: it belongs to a different account. Export the public key of the account that shows your
            receive addresses.
          </Note>
        ) : null}
        {problem === null ? null : <Note tone="danger">{problem}</Note>}
        <div className="pm-row pm-end">
          <Button variant="default" onClick={onBack}>
            Back
          </Button>
          <Button
            loading={busy}
            disabled={chosen === null || chosen === 'none'}
            onClick={() => (chosen === null || chosen === 'none' ? undefined : void goOn(chosen))}
          >
            Continue
          </Button>
        </div>
      </div>
    </Card>
  )
}
