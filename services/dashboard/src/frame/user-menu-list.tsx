import { Menu, useMantineColorScheme } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { failureOf, shownMessage } from '../api/failure.ts'
import { api } from '../api/trpc.ts'
import { showToast } from '../parts/toast/toast.tsx'
import { MENU_PORTAL, type MenuListProps } from './menu-button.tsx'
import { keysAreOn, setKeysOn } from './shortcut.ts'

/** Theme, single keys, account and logout; `user-menu.tsx` loads it. */
export function UserMenuList({ isOpen, onClose }: MenuListProps) {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const [keys, setKeys] = useState(keysAreOn)
  const client = useQueryClient()
  const navigate = useNavigate()
  const leave = async () => {
    try {
      await api.auth.logOut.mutate({})
    } catch (error) {
      const why = shownMessage(failureOf(error))
      return showToast({ color: 'red', message: `You may still be logged in. ${why} Log out again.`, autoClose: false })
    }
    client.clear()
    await navigate('/login')
  }
  const switchKeys = () => {
    setKeysOn(!keys)
    setKeys(!keys)
  }
  return (
    <Menu
      opened={isOpen}
      onClose={onClose}
      position="top-start"
      width={220}
      portalProps={MENU_PORTAL}
      returnFocus={false}
    >
      <Menu.Target>
        <span className="pm-menu-anchor" aria-hidden>
          You
        </span>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Theme</Menu.Label>
        {(['light', 'dark', 'auto'] as const).map((scheme) => (
          <Menu.Item key={scheme} onClick={() => setColorScheme(scheme)} aria-current={colorScheme === scheme}>
            {scheme === 'auto' ? 'System' : scheme === 'light' ? 'Light' : 'Dark'}
            {colorScheme === scheme ? ' ✓' : ''}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={switchKeys}>
          {keys ? 'Turn off single-key shortcuts' : 'Turn on single-key shortcuts'}
        </Menu.Item>
        <Menu.Item onClick={() => void navigate('/account')}>Account security</Menu.Item>
        <Menu.Item onClick={() => void leave()}>Log out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
