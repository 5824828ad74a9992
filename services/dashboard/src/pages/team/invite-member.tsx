import { Button, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { ActionForm } from '../../parts/action/action-form.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { Modal } from '../../parts/dialog/modal.tsx'
import { Hint } from '../../parts/hint.tsx'
import { ROLE_LABELS, type Role } from '../../session/roles.ts'
import { useScope } from '../../session/scope.ts'

const ROLES = Object.entries(ROLE_LABELS).map(([value, label]) => ({ value, label }))

/** Invites a person by mail; the link is valid for seven days. */
export function InviteMember({ refusal }: { readonly refusal: string | null }) {
  const scope = useScope()
  const [isOpen, setOpen] = useState(false)
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('support')
  const invite = useAction({
    call: (ids, input: { email: string; role: Role }) => api.members.invite.mutate({ ...scope, ...ids, ...input }),
    done: ({ email: invited }) => `Invitation sent to ${invited}.`,
    onDone: () => {
      setOpen(false)
      setEmail('')
    },
    refresh: [trpc.members.pathFilter()],
  })
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
        <Hint label={refusal}>
          <span>{button}</span>
        </Hint>
      )}
      <Modal opened={isOpen} onClose={() => setOpen(false)} title="Invite a team member">
        <ActionForm
          action={invite}
          onSubmit={() => void invite.run({ email, role })}
          submit="Send invitation"
          onCancel={() => setOpen(false)}
          fields={['email']}
        >
          <TextInput
            label="Email"
            type="email"
            {...bindText(email, setEmail)}
            error={failure?.fields['email']}
            required
            data-autofocus
          />
          <NativeSelect
            label="Role"
            data={ROLES}
            value={role}
            onChange={({ currentTarget }) => setRole(currentTarget.value as Role)}
          />
        </ActionForm>
      </Modal>
    </>
  )
}
