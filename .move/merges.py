"""room by room: (new, [olds], docstring). Order of olds: the later may use the earlier."""
M={
'schedule':[
 ('schedule.instants',['schedule.instants','schedule.margins','schedule.malformed'],'keep0'),
 ('schedule.json_text',['schedule.json_text','schedule.work'],'JSON that is read and written again (ADR 0148), and how much work a JSON Schema can make.'),
 ('schedule.schedule_id',['schedule.bucket','schedule.schedule_id'],'keep1'),
 ('schedule.schedule',['schedule.definition','schedule.schedule'],'keep1'),
],
'engines':[
 ('engines.store.model',['engines.store.items','engines.store.conditions','engines.store.writes','engines.store.queries','engines.store.changes'],'What a store is asked, as data: items, conditions on them, the four writes, queries, and the changes that it tells.'),
 ('engines.ports.clock',['engines.ports.unavailable','engines.ports.clock'],'The time, threads, and what is raised when something outside did not do what was asked.'),
 ('engines.ports.messaging',['engines.ports.queue','engines.ports.topic','engines.ports.function'],'Queues, the topic of lifecycle events, and functions that are asked something.'),
 ('engines.ports.keeping',['engines.ports.objects','engines.ports.secrets'],'Bodies in a bucket, and the values of connections.'),
 ('engines.aws.start',['engines.aws.collector','engines.aws.session'],'keep1'),
 ('engines.aws.bounded_calls',['engines.aws.deadline','engines.aws.bounded_calls'],'keep1'),
 ('engines.aws.clients',['engines.aws.clients','engines.aws.sends'],'keep0'),
 ('engines.aws.dynamo_store',['engines.aws.conflicts','engines.aws.dynamo_store'],'keep1'),
 ('engines.aws.expressions',['engines.aws.attributes','engines.aws.expressions'],'Items and attributes as DynamoDB takes and gives them; conditions, changes and queries in the words of its expressions.'),
 ('engines.aws.messaging',['engines.aws.batches','engines.aws.queue','engines.aws.topic'],'Queues of SQS and the topic in SNS: many messages in few requests, of which a part may be accepted (ADR 0007).'),
 ('engines.aws.secrets',['engines.aws.secrets_client','engines.aws.secrets_manager','engines.aws.sealing'],'The values of connections in Secrets Manager (ADR 0105), and what seals their tokens (ADR 0106).'),
 ('engines.memory.messaging',['engines.memory.queue','engines.memory.topic','engines.memory.function'],'keep0'),
 ('engines.memory.runtime',['engines.memory.clock','engines.memory.sequence','engines.memory.observer','engines.memory.objects','engines.memory.secrets'],'Time, order, logs, objects and secrets in memory.'),
],
}
M.update({
'records':[
 ('records.ports',['records.ports.control','records.ports.schedule_table'],'The tables of records, and the control rows that coordinate writers and sweepers (ADR 0048).'),
 ('records.repository.records',['records.repository.schedule_table','records.repository.records'],'The records of all lanes: each in the table that its id tells (ADR 0095).'),
],
'recurrence':[
 ('recurrence.duration',['recurrence.moments','recurrence.duration'],'keep1'),
 ('recurrence.business_hours',['recurrence.business_hours','recurrence.formats'],'keep0'),
],
'ledger':[
 ('ledger.model',['ledger.rules.detail','ledger.rules.lifecycle','ledger.rules.row'],'keep2'),
 ('ledger.rules',['ledger.rules.at_rest','ledger.rules.outcome','ledger.rules.claim'],'Who may claim a schedule, how it ends or goes on, and when no attempt of it is under way any more (ADR 0018, 0070).'),
 ('ledger.ports',['ledger.ports.ledger'],'keep0'),
 ('ledger.repository',['ledger.repository.ledger','ledger.repository.in_batches'],'keep0'),
 ('ledger.use_cases',['ledger.use_cases.compare_and_set'],'keep0'),
],
'masking':[('masking.anyhow',['masking.anyhow','masking.answers'],'keep0')],
'http':[
 ('http.calls.callers',['http.routes','http.calls.authorization','http.calls.loopback'],'Who may call, and what: the setting API_AUTHORIZATION, and the scopes of a token (ADR 0064, 0108).'),
 ('http.calls.answers',['http.calls.responses','http.calls.problems'],'Answers: what is 2xx, and RFC 9457 problems, each with what to do (ADR 0028).'),
],
})
