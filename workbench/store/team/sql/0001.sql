-- The log of a store: bytes in order. Who may read a store selects from its tables; everything else
-- is done by the functions below, as the owner of the schema and for the role that logged in.

create schema workbench;
create type workbench.level as enum ('reader', 'writer', 'reviewer', 'owner');

create table workbench.migrations (
    number int primary key,
    at timestamptz not null default now()
);

-- `header` is the first line of the journal, `start` its hash; `rev` and `hash` are those of the last
-- entry, and 0 and `start` where there is none.
create table workbench.stores (
    id int generated always as identity primary key,
    name text not null unique,
    header bytea not null,
    start text not null,
    rev bigint not null default 0,
    hash text not null
) with (fillfactor = 50);

create table workbench.members (
    store int not null references workbench.stores on delete cascade,
    role text not null check (role !~ '[/:]' and role <> 'public'),
    level workbench.level not null,
    is_agent boolean not null,
    primary key (role, store)
);

-- A session keeps the plans that it made when the table was empty: so that those fit a full one too,
-- no index begins with `store` but the one by which its revisions are found.
-- `touched` holds hashes of the names of what an entry changes; null where that is not known. `level`
-- is that of the member who wrote it; empty for what an owner loaded.
create table workbench.entries (
    store int not null references workbench.stores on delete cascade,
    rev bigint not null,
    at text not null,
    actor text not null,
    kind text not null,
    uid text not null,
    touched bigint[],
    body bytea not null,
    hash text not null,
    level text not null,
    primary key (store, rev),
    unique (uid, store)
);

create table workbench.counters (
    store int not null references workbench.stores on delete cascade,
    name text not null,
    next bigint not null,
    primary key (store, name)
);

create table workbench.blobs (
    store int not null references workbench.stores on delete cascade,
    hash text not null,
    data bytea not null,
    primary key (store, hash)
);

alter table workbench.migrations enable row level security;
alter table workbench.stores enable row level security;
alter table workbench.members enable row level security;
alter table workbench.entries enable row level security;
alter table workbench.counters enable row level security;
alter table workbench.blobs enable row level security;

create policy read on workbench.migrations for select using (true);
create policy read on workbench.members for select using (role = session_user);
create policy read on workbench.stores for select
    using (id in (select store from workbench.members where role = session_user));
create policy read on workbench.entries for select
    using (store in (select store from workbench.members where role = session_user));
create policy read on workbench.blobs for select
    using (store in (select store from workbench.members where role = session_user));

-- Returns the member that asks; raises WB001 unless their level is enough. What is raised with a code
-- that begins with WB is shown to people as it is. A client that falls asleep in its transaction is
-- disconnected, so that it does not keep others from the store.
create function workbench.member(p_store int, p_needs workbench.level) returns workbench.members
language plpgsql as $$
declare
    asking workbench.members;
begin
    perform set_config('idle_in_transaction_session_timeout', '10s', true);
    select * into asking from workbench.members where store = p_store and role = session_user;
    if asking.level is null then
        raise exception '% is no member of this store.', session_user using
            errcode = 'WB001', hint = 'An owner runs `workbench store members add ROLE`.';
    elsif asking.level < p_needs then
        raise exception '% is a % of this store; this takes level %.',
            session_user, asking.level, p_needs
            using errcode = 'WB001', hint = 'Nothing was changed; ask an owner of the store.';
    end if;
    return asking;
end $$;

-- Returns what a writer says of an entry as JSON in which escapes are question marks: the database
-- could not read all of them. A name that was written with some is another one then. What is no
-- escape of JSON, or half a character, keeps its backslash.
create function workbench.read_body(p_body bytea) returns text
language plpgsql immutable as $$
declare
    said text := '{' || convert_from(p_body, 'UTF8') || '}';
begin
    if strpos(said, '\') = 0 then
        return said;
    end if;
    return regexp_replace(
        said, '\\(?:["\\/bfnrt]|u(?:[0-9a-ce-fA-CE-F][0-9a-fA-F]|[dD][0-7])[0-9a-fA-F]{2})', '?', 'g'
    );
end $$;

-- Returns whether that is an entry which every machine can read, and nothing else: it could name
-- another actor, or begin another line of the journal.
create function workbench.is_body(p_said text) returns boolean
language plpgsql immutable as $$
declare
    outside text;  -- of quotes
begin
    if not starts_with(p_said, '{"label":') or p_said ~ '[\x01-\x1f\\]' or (
        select bool_or(name = 'changes') and count(*) = count(distinct name) and bool_and(
            name in ('label', 'group', 'part', 'more', 'target', 'takes', 'next', 'changes')
        ) from json_object_keys(p_said::json) name
    ) is not true then
        return false;
    end if;
    if p_said ~ '[0-9][eE]|[0-9]{200}'
        or length(p_said) - length(replace(replace(p_said, '[', ''), '{', '')) > 254
    then
        select string_agg(part, '') into outside
        from string_to_table(p_said, '"') with ordinality parts(part, number) where number % 2 = 1;
        perform digits[1]::float8  -- which raises where that is too large
        from regexp_matches(outside, '([0-9.]+[eE][-+0-9]+|[0-9]{200,})', 'g') digits;
        outside := regexp_replace(outside, '[^][{}]+', '', 'g');
        for depth in 1 .. 254 loop  -- as deep as the workbench writes
            exit when outside = '';
            outside := replace(replace(outside, '[]', ''), '{}', '');
        end loop;
        return outside = '';
    end if;
    return true;
end $$;

-- Raises WB001 where an entry undoes or redoes what somebody else did, unless a reviewer does. What it
-- speaks of is known by revision, and by the group of that; of several, their groups do not tell whose
-- they are.
create function workbench.require_own(p_asking workbench.members, p_said json)
returns void language plpgsql stable as $$
begin
    if p_asking.level < 'reviewer' and (p_said -> 'takes' is not null or not exists (
        select from workbench.entries e where e.store = p_asking.store
            and e.rev = case when p_said ->> 'target' ~ '^[0-9]{1,18}$' then (p_said ->> 'target')::bigint end
            and split_part(split_part(e.actor, ':', 2), '/', 1) = p_asking.role
            and workbench.read_body(e.body)::json ->> 'group' is not distinct from p_said ->> 'group'
    )) then
        raise exception '% is a % of this store; to undo or redo what somebody else did takes level'
            ' reviewer.', p_asking.role, p_asking.level
            using errcode = 'WB001', hint = 'Nothing was changed; ask a reviewer of the store.';
    end if;
end $$;

-- Adds an entry after the last one of a store, whose row the caller has locked.
create function workbench.add_entry(
    p_store workbench.stores, p_at text, p_actor text, p_kind text, p_uid text, p_level text,
    p_touched bigint[], p_body bytea
) returns workbench.entries
language plpgsql as $$
declare
    added workbench.entries;
    head text := format(
        '{"rev":%s,"at":%s,"actor":%s,"kind":%s,"uid":%s,%s', p_store.rev + 1, to_json(p_at),
        to_json(p_actor), to_json(p_kind), to_json(p_uid),
        case when p_level = '' then '' else format('"level":%s,', to_json(p_level)) end
    );
begin
    insert into workbench.entries values (
        p_store.id, p_store.rev + 1, p_at, p_actor, p_kind, p_uid, p_touched, p_body,
        encode(sha256(
            convert_to(head, 'UTF8') || p_body
            || convert_to(format(',"prev":"%s"', p_store.hash), 'UTF8')
        ), 'hex'), p_level
    ) returning * into added;
    return added;
end $$;

-- Returns the entry with a name, added unless it was there: then `known_body` is what it holds.
-- Returns `clash` instead, perhaps empty, when somebody else changed what it touches, or when the
-- entry that the caller knows as the last one is another one now.
create function workbench.commit(
    p_store int, p_uid text, p_claim text, p_kind text, p_needs workbench.level, p_seen bigint,
    p_seen_hash text, p_touched bigint[], p_body bytea,
    out rev bigint, out at text, out actor text, out kind text, out known_body bytea,
    out hash text, out level text, out clash text
) language plpgsql security definer
set search_path = workbench, pg_temp set lock_timeout = '5s' set enable_seqscan = off as $$
#variable_conflict use_column
declare
    asking members := member(p_store, greatest(p_needs, 'writer'));
    locked stores;
    now_hash text;
    entry entries;
    word text := split_part(p_claim, ':', 1);
    said text;
begin
    if length(p_body) > 50331648 or cardinality(p_touched) > 1000000 then
        raise exception 'This is too much for one change of a team''s store.' using
            errcode = 'WB003', hint = 'Nothing was changed; do it in smaller parts.';
    end if;
    said := read_body(p_body);
    if (
        p_kind in ('edit', 'undo', 'redo', 'access', 'purge') and length(p_uid) between 1 and 64
        and word <> '' and length(p_claim) <= 1000 and p_touched is not null and is_body(said)
        and (p_kind not in ('undo', 'redo') or said::json ->> 'target' is not null)
    ) is not true then
        raise exception 'This is no entry of a journal.' using
            errcode = 'WB003', hint = 'Nothing was changed; upgrade memory-workbench.';
    end if;
    if p_kind in ('undo', 'redo') or strpos(said, '"takes":') > 0 then
        perform require_own(asking, said::json);
    end if;
    select * into locked from stores where id = p_store for update;
    select * into entry from entries where store = p_store and uid = p_uid;
    if entry.rev is not null then
        known_body := entry.body;
    else
        now_hash := case p_seen
            when locked.rev then locked.hash
            when 0 then locked.start
            else (select e.hash from entries e where e.store = p_store and e.rev = p_seen)
        end;
        if now_hash is distinct from p_seen_hash then
            clash := '';
            return;
        end if;
        if cardinality(p_touched) > 0 then
            select e.actor into clash from entries e
            where e.store = p_store and e.rev > p_seen
                and (e.touched is null or e.touched && p_touched)
            order by e.rev desc limit 1;
            if clash is not null then
                return;
            end if;
        end if;
        if asking.is_agent or word = 'agent' then
            actor := format(
                'agent:%s/%s', session_user,
                coalesce(nullif(regexp_replace(substr(p_claim, length(word) + 2), '^.*/', ''), ''), word)
            );
        else
            actor := format('%s:%s', word, session_user);
        end if;
        entry := add_entry(
            locked,
            replace(
                to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                '.000000Z', 'Z'
            ),
            actor, p_kind, p_uid, asking.level::text, p_touched, p_body
        );
        update stores set rev = entry.rev, hash = entry.hash where id = p_store;
    end if;
    rev := entry.rev;
    at := entry.at;
    actor := entry.actor;
    kind := entry.kind;
    hash := entry.hash;
    level := entry.level;
end $$;

-- Returns the first of some numbers that nobody else is given. Nobody moves them on farther than
-- somebody could count, so that there is always a next one.
create function workbench.reserve(p_store int, p_name text, p_least bigint, p_count bigint)
returns bigint language plpgsql security definer
set search_path = workbench, pg_temp set lock_timeout = '5s' as $$
declare
    after bigint;
begin
    perform member(p_store, 'writer');
    select next into after from counters where store = p_store and name = p_name;
    if (
        p_name ~ '^[a-z_]{1,60}$' and p_count between 1 and 1000
        and p_least between 1 and greatest(1000000000000, after)
    ) is not true then
        raise exception 'These are no numbers of new records.' using
            errcode = 'WB003', hint = 'Nothing was changed; upgrade memory-workbench.';
    end if;
    insert into counters as c values (p_store, p_name, p_least + p_count)
    on conflict (store, name) do update set next = greatest(c.next, p_least) + p_count
    returning next into after;
    return after - p_count;
end $$;

-- Removes all entries of a store and locks it, for `load` in the same transaction. Returns false
-- instead when its last entry is another one than the caller knows.
create function workbench.begin_rewrite(p_store int, p_last text)
returns boolean language plpgsql security definer
set search_path = workbench, pg_temp set lock_timeout = '5s' as $$
declare
    locked stores;
begin
    perform member(p_store, 'owner');
    select * into locked from stores where id = p_store for update;
    if locked.hash <> p_last then
        return false;
    end if;
    delete from entries where store = p_store;
    update stores set rev = 0, hash = start where id = p_store;
    return true;
end $$;

-- Adds entries that somebody else wrote, as they are; what they touched is not known.
create function workbench.load(
    p_store int, p_ats text[], p_actors text[], p_kinds text[], p_uids text[], p_bodies bytea[],
    p_levels text[]
) returns void language plpgsql security definer
set search_path = workbench, pg_temp set lock_timeout = '5s' as $$
declare
    locked stores;
    entry entries;
begin
    perform member(p_store, 'owner');
    select * into locked from stores where id = p_store for update;
    for i in 1 .. cardinality(p_uids) loop
        entry := add_entry(
            locked, p_ats[i], p_actors[i], p_kinds[i], p_uids[i], p_levels[i], null, p_bodies[i]
        );
        locked.rev := entry.rev;
        locked.hash := entry.hash;
    end loop;
    update stores set rev = locked.rev, hash = locked.hash where id = p_store;
end $$;

-- Keeps bytes under the name that a writer says they have; whoever reads them looks whether it fits.
-- An owner replaces what another has put there.
create function workbench.put_blob(p_store int, p_hash text, p_data bytea)
returns void language plpgsql security definer
set search_path = workbench, pg_temp set lock_timeout = '5s' as $$
declare
    asking members := member(p_store, 'writer');
begin
    if (p_hash ~ '^[0-9a-f]{40}$' and length(p_data) <= 67108864) is not true then
        raise exception 'This is no file of a store.' using
            errcode = 'WB003', hint = 'Nothing was changed; upgrade memory-workbench.';
    end if;
    insert into blobs as b values (p_store, p_hash, p_data)
    on conflict (store, hash) do update set data = p_data
    where asking.level = 'owner' and b.data <> p_data;
end $$;

create function workbench.drop_blobs(p_store int, p_hashes text[])
returns void language plpgsql security definer set search_path = workbench, pg_temp as $$
begin
    perform member(p_store, 'owner');
    delete from blobs where store = p_store and hash = any(p_hashes);
end $$;

create function workbench.list_members(p_store int)
returns table (role text, level text, is_agent boolean)
language plpgsql stable security definer set search_path = workbench, pg_temp as $$
begin
    perform member(p_store, 'reader');
    return query select m.role, m.level::text, m.is_agent from members m
    where m.store = p_store order by m.role;
end $$;

-- Lets a role read what has a rule for reading, and call the functions that check by themselves who asks.
create function workbench.allow(p_role text)
returns void language plpgsql set search_path = workbench, pg_temp as $$
declare
    readable regclass;
    called regprocedure;
begin
    execute format('grant usage on schema workbench to %I', p_role);
    for readable in select c.oid from pg_class c
        where c.relnamespace = 'workbench'::regnamespace
            and (c.relkind = 'v' or exists (select from pg_policy where polrelid = c.oid))
    loop
        execute format('grant select on %s to %I', readable, p_role);
    end loop;
    for called in select p.oid from pg_proc p
        where p.pronamespace = 'workbench'::regnamespace
            and (p.prosecdef or p.proname = 'search_memories')
    loop
        execute format('grant execute on function %s to %I', called, p_role);
    end loop;
end $$;

-- Makes a role that the server has a member of a store, or changes what it may do.
create function workbench.set_member(
    p_store int, p_role text, p_level workbench.level, p_is_agent boolean
) returns void language plpgsql security definer set search_path = workbench, pg_temp as $$
begin
    perform member(p_store, 'owner');
    perform from stores where id = p_store for update;
    perform allow(p_role);
    insert into members values (p_store, p_role, p_level, p_is_agent)
    on conflict (role, store) do update set level = p_level, is_agent = p_is_agent;
    if not exists (select from members where store = p_store and level = 'owner') then
        raise exception 'A store needs an owner.' using
            errcode = 'WB002', hint = 'Nothing was changed; make somebody else one first.';
    end if;
end $$;

-- Returns whether the role was a member.
create function workbench.drop_member(p_store int, p_role text)
returns boolean language plpgsql security definer set search_path = workbench, pg_temp as $$
begin
    perform member(p_store, 'owner');
    perform from stores where id = p_store for update;
    delete from members where store = p_store and role = p_role;
    if not found then
        return false;
    end if;
    if not exists (select from members where store = p_store and level = 'owner') then
        raise exception 'A store needs an owner.' using
            errcode = 'WB002', hint = 'Nothing was changed; make somebody else one first.';
    end if;
    if p_role <> current_user and not exists (select from members where role = p_role) then
        execute format('revoke all on all tables in schema workbench from %I', p_role);
        execute format('revoke all on all functions in schema workbench from %I', p_role);
        execute format('revoke all on schema workbench from %I', p_role);
    end if;
    return true;
end $$;

revoke all on all functions in schema workbench from public;
