import { FileInput, Textarea } from '@mantine/core'
import { useState } from 'react'
import { readSignatureList } from '#shared/contracts/signature-list.ts'
import { api } from '../../api/trpc.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { CopyText } from '../../parts/copy-text.tsx'
import { Time } from '../../parts/time.tsx'
import { useScope } from '../../session/scope.ts'

type About = Parameters<typeof api.wallets.challenge.mutate>[0]['about']
type Challenge = Awaited<ReturnType<typeof api.wallets.challenge.mutate>>

/** A signed challenge, in the server's form. */
export type Proof = Parameters<typeof api.wallets.prove.mutate>[0]['proof']

/** Shows the text to sign and accepts the signature, or the file of a pool; returns the proof when it is complete, otherwise null. */
export function ControlProof(props: {
  readonly about: About
  readonly onChange: (proof: Proof | null) => void
  readonly refusal: string | null
}) {
  const { about, onChange, refusal } = props
  const scope = useScope()
  const [challenge, setChallenge] = useState<Challenge | null>(null)
  const action = useAction({
    call: (ids, input: { readonly about: About }) => api.wallets.challenge.mutate({ ...scope, ...ids, ...input }),
    onDone: setChallenge,
  })
  if (challenge === null) {
    return (
      <ActionButton action={action} input={{ about }} variant="default" refusal={refusal}>
        Show text to sign
      </ActionButton>
    )
  }
  return <Signatures challenge={challenge} onChange={onChange} />
}

function Signatures(props: { readonly challenge: Challenge; readonly onChange: (proof: Proof | null) => void }) {
  const { challenge, onChange } = props
  const { text, nonce, signers, expiresAt } = challenge
  const [entered, setEntered] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const isOne = signers.count === 1
  const take = (value: string) => {
    setEntered(value)
    const signature = value.trim()
    const list = isOne && signature !== '' ? [{ address: '', signature }] : readSignatureList(value)
    setProblem(list === null && signature !== '' ? 'Each line needs an address, a comma and a signature.' : null)
    onChange(list === null ? null : { nonce, signatures: [...list] })
  }
  return (
    <div className="pm-plain">
      <p>
        Sign exactly this text in the wallet that holds {isOne ? 'the key of this address' : 'the keys'}. You can use it
        once, until <Time at={expiresAt} />.
      </p>
      <p className="pm-mono" data-testid="challenge">
        <CopyText text={text} what="text to sign" />
      </p>
      <ul className="pm-mono">
        {signers.first.map((address) => (
          <li key={address}>
            <CopyText text={address} what="address" />
          </li>
        ))}
      </ul>
      {signers.count > signers.first.length ? (
        <p className="pm-muted">
          and {signers.count - signers.first.length} more addresses. Sign the same text for each.
        </p>
      ) : null}
      {isOne ? null : (
        <FileInput
          label="Signature file"
          description="CSV with one line per address: address,signature"
          accept=".csv,.txt,text/csv,text/plain"
          placeholder="Choose a file"
          onChange={(file) => void file?.text().then(take)}
        />
      )}
      <Textarea
        label={isOne ? 'Signature' : 'Signatures'}
        {...bindText(entered, take)}
        error={problem}
        autosize
        minRows={2}
        maxRows={10}
        autoComplete="off"
        spellCheck={false}
        classNames={{ input: 'pm-mono' }}
      />
    </div>
  )
}
