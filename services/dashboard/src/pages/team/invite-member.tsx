import { Button, Modal, Select, TextInput, Tooltip } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { DeedFailure } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { ROLE_WORDS, type Role } from '../../session/roles.ts'
import { useScope } from '../../session/scope.ts'

const ROLES = Object.entries(ROLE_WORDS).map(([value, label]) => ({ value, label }))

/** Invites somebody by mail; the link is good for seven days. */
export function InviteMember({ refusal }: { readonly refusal: string | null }) {
  const scope = useScope()
  const [isOpen, setOpen] = useState(false)
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('support')
  const invite = useDeed({
    call: (ids, input: { email: string; role: Role }) => api.members.invite.mutate({ ...scope, ...ids, ...input }),
    done: ({ email: invited }) => `An invitation is on its way to ${invited}.`,
    onDone: () => {
      setOpen(false)
      setEmail('')
    },
    refresh: [trpc.members.pathFilter()],
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void invite.run({ email, role })
  }
  const button = (
    <Button onClick={() => setOpen(true)} disabled={refusal !== null}>
      Invite
    </Button>
  )
  const { failure } = invite
  return (
    <>
      {refusal === null ? (
        button
      ) : (
        <Tooltip label={refusal}>
          <span>{button}</span>
        </Tooltip>
      )}
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Invite somebody">
        <form className="pm-stack" onSubmit={submit}>
          <TextInput
            label="E-mail"
            type="email"
            value={email}
            onChange={({ currentTarget }) => setEmail(currentTarget.value)}
            error={failure?.fields['email']}
            required
            data-autofocus
          />
          <Select
            label="Role"
            data={ROLES}
            value={role}
            onChange={(value) => setRole((value ?? 'support') as Role)}
            allowDeselect={false}
          />
          <DeedFailure failure={failure?.fields['email'] === undefined ? failure : null} />
          <div className="pm-row pm-end">
            <Button variant="default" onClick={() => setOpen(false)}>
              Cancel
            </Button>
            <Button type="submit" loading={invite.busy}>
              Send the invitation
            </Button>
          </div>
        </form>
      </Modal>
    </>
  )
}
