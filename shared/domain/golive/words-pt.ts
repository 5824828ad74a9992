import type { GoLiveWords } from './words.ts'

/** The check in Portuguese of Brazil. */
export const PT: GoLiveWords = {
  states: { open: 'Aberto', passed: 'Aprovado', failed: 'Com falha', out_of_date: 'Vencido' },
  steps: { seen: 'visto', confirming: 'confirmando', paid: 'pago', delivered: 'webhook entregue' },
  items: {
    address: {
      title: 'Endereço na sua própria carteira',
      why: 'Se o Paymesh derivasse endereços diferentes dos da sua carteira, você não poderia gastar o que os clientes pagam.',
      mend: 'Abra a sua carteira no caminho indicado e digite o endereço que ela mostra. Se for diferente, desative esta carteira e adicione a chave certa.',
    },
    nodes: {
      title: 'Nós acessíveis e dentro da cota',
      why: 'Sem um nó, os pagamentos são vistos tarde. Uma cota esgotada termina em recusas.',
      mend: 'Veja Sistema, Chains, ou execute paymesh chain status. Corrija PAYMESH_NETWORKS ou aumente a cota.',
    },
    second_source: {
      title: 'Uma segunda fonte para cada rede',
      why: 'Um nó pode falhar, atrasar ou mentir. Antes de confirmar um pagamento, outro nó em outro servidor é consultado.',
      mend: 'Adicione uma segunda URL de outro provedor em rpcUrls de cada rede em PAYMESH_NETWORKS.',
    },
    webhook: {
      title: 'Webhook acessível e verificado',
      why: 'A sua loja sabe dos pagamentos por webhooks. Um destino que nunca foi testado pode recusá-los.',
      mend: 'Adicione um destino, envie um evento de teste e confira se o seu receptor verifica a assinatura e responde 2xx.',
    },
    second_factor: {
      title: 'Segundo fator para proprietários e administradores',
      why: 'Com uma única senha roubada seria possível trocar a carteira que recebe.',
      mend: 'Cada pessoa ativa a autenticação de dois fatores na sua conta.',
    },
    master_key: {
      title: 'Chave mestra guardada em outro lugar',
      why: 'Um backup não contém a chave mestra. Sem ela, os valores selados se perdem para sempre.',
      mend: 'Guarde PAYMESH_MASTER_KEY e PAYMESH_KEY_PEPPER fora do servidor, em um gerenciador de senhas ou cofre, e declare aqui.',
    },
    backup: {
      title: 'Backup feito e verificado',
      why: 'Sem um backup legível, um disco quebrado acaba com os seus registros de cobranças e endereços.',
      mend: 'Execute paymesh backup create e depois paymesh backup verify --record com o arquivo, pelo menos uma vez por semana.',
    },
    mail: {
      title: 'O e-mail funciona',
      why: 'Os proprietários são avisados por e-mail sobre carteiras trocadas, webhooks com falha e pagamentos a decidir.',
      mend: 'Configure PAYMESH_SMTP_URL e PAYMESH_MAIL_FROM, envie um e-mail de teste e verifique de novo após um minuto.',
    },
    payment: {
      title: 'Um pequeno pagamento próprio',
      why: 'Só um pagamento real prova todo o caminho da rede até a sua loja.',
      mend: 'Crie a cobrança de teste, pague da sua própria carteira e verifique de novo até o webhook ser entregue.',
    },
  },
  reasons: {
    no_wallet: () => 'Nenhuma carteira recebe neste modo.',
    address_differs: () => 'O endereço é diferente do que o Paymesh deriva. Não aceite pagamentos com esta carteira.',
    no_node: (about) => `Nenhum nó configurado: ${about}.`,
    node_silent: (about) => `Sem resposta: ${about}.`,
    quota_used: (about) => `A cota está quase esgotada: ${about}.`,
    one_source: (about) => `Uma única fonte: ${about}.`,
    no_endpoint: () => 'Nenhum destino ativo recebe eventos deste modo.',
    webhook_untested: (about) => `Nada foi entregue ainda: ${about}.`,
    webhook_failing: (about) => `A última entrega falhou: ${about}.`,
    factor_missing: (about) => `Sem segundo fator: ${about}.`,
    backup_missing: () => 'Nenhum backup foi feito nos últimos oito dias.',
    backup_unverified: () => 'Nenhum backup foi verificado nos últimos oito dias.',
    mail_failed: () => 'O e-mail de teste foi recusado ou não pôde ser enviado.',
    mail_waits: () => 'O e-mail de teste aguarda o servidor de e-mail.',
    invoice_waits: () => 'A cobrança aguarda o seu pagamento.',
    delivery_waits: () => 'O pagamento está confirmado; o webhook ainda não foi entregue.',
    invoice_ended: () => 'A cobrança terminou sem o pagamento. Crie outra.',
  },
}
