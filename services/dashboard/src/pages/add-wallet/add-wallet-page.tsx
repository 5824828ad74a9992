import { Button, NativeSelect, Radio, Textarea, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { Link } from 'react-router'
import { FAMILIES, type Family } from '#shared/domain/enumerations.ts'
import { failureOf } from '../../api/failure.ts'
import { api } from '../../api/trpc.ts'
import { Card, Note } from '../../parts/card.tsx'
import { Page } from '../../parts/page.tsx'
import { RowsSkeleton } from '../../parts/page-skeleton.tsx'
import { useLoaded } from '../../parts/use-loaded.ts'
import { useRefusal, useScope, useTo } from '../../session/scope.ts'
import { FAMILY_LABELS, KEY_LABELS } from '../wallets/labels.ts'
import '../webhooks/webhooks.css'
import { bindText } from '../../parts/bind-text.ts'
import type { AddedWallet, Entry, KeyPreview, Kind, Preview } from './entry.ts'

type Step =
  | { readonly at: 'paste' }
  | { readonly at: 'choose'; readonly entered: Entry; readonly key: KeyPreview }
  | { readonly at: 'compare'; readonly entered: Entry; readonly preview: Preview }
  | { readonly at: 'prove'; readonly added: AddedWallet }

const STEPS = [
  ['paste', '1. Paste key'],
  ['compare', '2. Verify addresses'],
  ['prove', '3. Test payment'],
] as const

/**
 * Paste a public key, choose its address type if the key does not determine it, compare the first addresses, and test the wallet
 * with a payment.
 */
export function AddWalletPage() {
  const to = useTo()
  const refusal = useRefusal('admin', 'restricted')
  const [step, setStep] = useState<Step>({ at: 'paste' })
  const showPrepared = (entered: Entry, preview: Preview) => {
    const { key } = preview
    const isOpen = key !== null && key.choices.length > 0
    setStep(isOpen ? { at: 'choose', entered, key } : { at: 'compare', entered, preview })
  }
  const Choose = useLoaded(step.at === 'choose', async () => (await import('./choose-step.tsx')).ChooseStep)
  const Compare = useLoaded(step.at === 'compare', async () => (await import('./compare-step.tsx')).CompareStep)
  const Prove = useLoaded(step.at === 'prove', async () => (await import('./prove-step.tsx')).ProveStep)
  const waits = <RowsSkeleton rows={4} />
  const shown = step.at === 'choose' ? 'compare' : step.at
  return (
    <Page
      title="Add a wallet"
      beside={
        <ol className="pm-steps" aria-label="Steps">
          {STEPS.map(([at, word]) => (
            <li
              key={at}
              className={`pm-badge tone-${at === shown ? 'paid' : 'new'}`}
              aria-current={at === shown ? 'step' : undefined}
            >
              {word}
            </li>
          ))}
        </ol>
      }
      actions={
        <Button component={Link} to={to('wallets')} variant="default">
          All wallets
        </Button>
      }
    >
      {refusal !== null ? (
        <Note tone="new">{refusal}</Note>
      ) : step.at === 'paste' ? (
        <PasteStep onPrepared={showPrepared} />
      ) : step.at === 'choose' ? (
        Choose === null ? (
          waits
        ) : (
          <Choose
            entered={step.entered}
            choices={step.key.choices}
            onBack={() => setStep({ at: 'paste' })}
            onPrepared={showPrepared}
          />
        )
      ) : step.at === 'compare' ? (
        Compare === null ? (
          waits
        ) : (
          <Compare
            entered={step.entered}
            preview={step.preview}
            onBack={() => setStep({ at: 'paste' })}
            onAdded={(added) => setStep({ at: 'prove', added })}
          />
        )
      ) : Prove === null ? (
        waits
      ) : (
        <Prove added={step.added} />
      )}
    </Page>
  )
}

const KINDS: Readonly<Record<Kind, { readonly label: string; readonly description: string }>> = {
  xpub: {
    label: 'Extended public key',
    description: 'A fresh address for every invoice. Best for accounting and privacy.',
  },
  pool: {
    label: 'Address pool',
    description: 'A list of your addresses. Each address is used for one invoice at a time, then cools down.',
  },
  address: { label: 'Single address', description: 'Invoices are matched by their exact amounts.' },
}

function PasteStep({ onPrepared }: { readonly onPrepared: (entered: Entry, preview: Preview) => void }) {
  const scope = useScope()
  const [family, setFamily] = useState<Family>('bitcoin')
  const [kind, setKind] = useState<Kind>('xpub')
  const [value, setValue] = useState('')
  const [path, setPath] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [pathProblem, setPathProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const keys = KEY_LABELS[family]
  const choose = (next: Family) => {
    setFamily(next)
    if (KEY_LABELS[next] === null && kind === 'xpub') setKind('pool')
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    setProblem(null)
    setPathProblem(null)
    const entered = { family, kind, value, ...(kind === 'xpub' && path.trim() !== '' && { path: path.trim() }) }
    try {
      onPrepared(entered, await api.wallets.prepare.mutate({ ...scope, ...entered }))
    } catch (error) {
      const { fields, message } = failureOf(error)
      if (fields['path'] !== undefined) return setPathProblem(fields['path'])
      const words = fields['value'] ?? Object.values(fields)[0] ?? message
      // A private key must not stay on the page.
      if (/private key/i.test(words)) setValue('')
      setProblem(words)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Card>
      <form onSubmit={(event) => void submit(event)} className="pm-stack" noValidate>
        <NativeSelect
          label="Network"
          data={FAMILIES.map((each) => ({ value: each, label: FAMILY_LABELS[each] }))}
          value={family}
          onChange={({ currentTarget }) => choose(FAMILIES.find((each) => each === currentTarget.value) ?? 'bitcoin')}
        />
        <Radio.Group
          label="Type"
          value={kind}
          onChange={(next) => setKind(next === 'pool' || next === 'address' ? next : 'xpub')}
        >
          {(Object.keys(KINDS) as Kind[])
            .filter((each) => each !== 'xpub' || keys !== null)
            .map((each) => (
              <Radio key={each} mt="xs" value={each} label={KINDS[each].label} description={KINDS[each].description} />
            ))}
        </Radio.Group>
        <Textarea
          label={kind === 'xpub' ? 'Extended public key' : kind === 'pool' ? 'Addresses, one per line' : 'Address'}
          description={
            kind === 'xpub'
              ? `Account-level public key ${scope.mode === 'live' ? `(${keys})` : '(in the test-network format where one exists)'}. Private keys are rejected.`
              : 'Use your own addresses, not an exchange’s deposit addresses.'
          }
          {...bindText(value, setValue)}
          error={problem}
          autosize
          minRows={kind === 'pool' ? 6 : 2}
          maxRows={16}
          autoComplete="off"
          spellCheck={false}
          classNames={{ input: 'pm-mono' }}
          required
        />
        {kind === 'xpub' && (pathProblem !== null || path !== '') ? (
          <TextInput
            label="Derivation path"
            description="Only for an Electrum master public key."
            {...bindText(path, setPath)}
            error={pathProblem}
            autoComplete="off"
            spellCheck={false}
            classNames={{ input: 'pm-mono' }}
          />
        ) : null}
        <div className="pm-row pm-end">
          <Button type="submit" loading={busy} disabled={value.trim() === ''}>
            Preview addresses
          </Button>
        </div>
      </form>
    </Card>
  )
}
