import { Menu, useMantineColorScheme } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { ForeignText } from '../parts/foreign-text.tsx'
import { logOut } from '../session/log-out.ts'
import { useSession } from '../session/session.ts'
import { keysAreOn, setKeysOn } from './key-switch.ts'

/** The signed-in person: theme, single keys, log-out. */
export function UserMenu({ role }: { readonly role: string }) {
  const { name, email } = useSession()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const [keys, setKeys] = useState(keysAreOn)
  const client = useQueryClient()
  const navigate = useNavigate()
  const shown = name === '' ? email : name
  const leave = async () => {
    await logOut().catch(() => {})
    client.clear()
    await navigate('/login')
  }
  const switchKeys = () => {
    setKeysOn(!keys)
    setKeys(!keys)
  }
  return (
    <Menu position="top-start" width={220} withinPortal>
      <Menu.Target>
        <button type="button" className="pm-user" aria-label={`${shown}, ${role}. Menu`}>
          <i aria-hidden>{initials(shown)}</i>
          <span>
            <ForeignText>{shown}</ForeignText>
            <small>{role}</small>
          </span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Theme</Menu.Label>
        {(['light', 'dark', 'auto'] as const).map((scheme) => (
          <Menu.Item key={scheme} onClick={() => setColorScheme(scheme)} aria-current={colorScheme === scheme}>
            {scheme === 'auto' ? 'As the system' : scheme === 'light' ? 'Light' : 'Dark'}
            {colorScheme === scheme ? ' ✓' : ''}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={switchKeys}>{keys ? 'Switch single keys off' : 'Switch single keys on'}</Menu.Item>
        <Menu.Item onClick={() => void navigate('/account')}>Password and authenticator</Menu.Item>
        <Menu.Item onClick={() => void leave()}>Log out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function initials(name: string): string {
  const words = name.split(/[\s@.]+/).filter((word) => word !== '')
  return [words[0], words[1]]
    .map((word) => [...(word ?? '')][0] ?? '')
    .join('')
    .toUpperCase()
}
