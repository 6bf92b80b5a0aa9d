-- What other tools read: the memories that agents are served, as `workbench store index` left them, and
-- their ranking. A log that is rewritten takes it along.

create table workbench.indexes (
    store int primary key references workbench.stores on delete cascade,
    rev bigint not null,
    hash text not null,
    model text not null,
    at timestamptz not null default now()
);

-- `text` is what is searched, its secrets masked, and `hash` names it; `approved` tells whether a person
-- stands by it; `marks` are helpful less harmful ones.
create table workbench.items (
    store int not null references workbench.indexes on delete cascade,
    id text collate "C" not null,
    text text not null,
    hash bytea not null,
    type text not null,
    approved boolean not null,
    created timestamptz not null,
    accessed timestamptz not null,
    importance float8 not null,
    marks float8 not null,
    pinned boolean not null,
    primary key (store, id)
);

alter table workbench.indexes enable row level security;
alter table workbench.items enable row level security;

create policy read on workbench.indexes for select
    using (store in (select store from workbench.members where role = session_user));
create policy read on workbench.items for select
    using (store in (select store from workbench.members where role = session_user));

-- A view reads as its owner does, so that it says itself who may.
create view workbench.memories as
    select s.name as store, x.rev, i.id, i.text, i.type, i.approved, i.created, i.accessed,
        i.importance, i.marks, i.pinned
    from workbench.items i
    join workbench.indexes x on x.store = i.store
    join workbench.stores s on s.id = i.store
    where i.created <= now()
        and s.id in (select store from workbench.members where role = session_user);

-- Removes the index of a store and locks it, for what adds to it in the same transaction.
create function workbench.begin_index(p_store int, p_rev bigint, p_hash text, p_model text)
returns void language plpgsql security definer
set search_path = workbench, pg_temp set lock_timeout = '5s' as $$
begin
    perform member(p_store, 'reviewer');
    insert into indexes values (p_store, p_rev, p_hash, p_model)
    on conflict (store) do update set rev = p_rev, hash = p_hash, model = p_model, at = now();
    delete from items where store = p_store;
end $$;

create function workbench.add_items(
    p_store int, p_ids text[], p_texts text[], p_hashes bytea[], p_types text[],
    p_approved boolean[], p_created timestamptz[], p_accessed timestamptz[],
    p_importance float8[], p_marks float8[], p_pinned boolean[]
) returns void language plpgsql security definer set search_path = workbench, pg_temp as $$
begin
    perform member(p_store, 'reviewer');
    insert into items select p_store, added.* from unnest(
        p_ids, p_texts, p_hashes, p_types, p_approved, p_created, p_accessed, p_importance,
        p_marks, p_pinned
    ) added;
end $$;

create function workbench.drop_index() returns trigger
language plpgsql set search_path = workbench, pg_temp as $$
begin
    delete from indexes where store = new.id;
    return null;
end $$;

create trigger rewritten after update on workbench.stores
    for each row when (new.rev < old.rev) execute function workbench.drop_index();

-- Makes what needs the extension `vector`, where that is there and nothing was made yet.
create function workbench.prepare_vectors() returns void
language plpgsql set search_path = workbench, pg_temp as $outer$
declare
    ext text := (
        select quote_ident(n.nspname) from pg_extension e
        join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'
    );
begin
    if ext is null or to_regclass('workbench.vectors') is not null then
        return;
    end if;
    execute replace($sql$
        create table vectors (
            store int not null references indexes on delete cascade,
            model text not null,
            hash bytea not null,
            embedding EXT.halfvec(256) not null,
            primary key (store, model, hash)
        );
        alter table vectors alter embedding set storage plain;
        alter table vectors enable row level security;
        create policy read on vectors for select
            using (store in (select store from workbench.members where role = session_user));

        create function add_vectors(p_store int, p_model text, p_hashes bytea[], p_vectors text[])
        returns void language plpgsql security definer set search_path = workbench, pg_temp as $$
        begin
            perform member(p_store, 'reviewer');
            insert into vectors
                select p_store, p_model, hash, vector::EXT.halfvec(256)
                from unnest(p_hashes, p_vectors) added (hash, vector)
                on conflict do nothing;
        end $$;

        -- Removes the vectors of other models, and some of this one.
        create function drop_vectors(p_store int, p_model text, p_hashes bytea[])
        returns void language plpgsql security definer set search_path = workbench, pg_temp as $$
        begin
            perform member(p_store, 'reviewer');
            delete from vectors
            where store = p_store and (model <> p_model or hash = any(p_hashes));
        end $$;

        -- Ranks as the profile `engram` does: equal weights of recency (0.995 an hour since the last
        -- access), importance with votes, and cosine, each from 0 to 1 over all memories of the store.
        -- The vectors of a store are read in one go, whatever is known of a table that was just filled.
        create function search_memories(p_store text, p_query EXT.halfvec, p_k int)
        returns table (
            id text, text text, approved boolean, score float8, recency float8,
            importance float8, relevance float8
        ) language plpgsql stable set enable_nestloop = off set work_mem = '64MB' as $$
        #variable_conflict use_column
        declare
            searched workbench.indexes;
        begin
            select x.* into searched from workbench.indexes x
                join workbench.stores s on s.id = x.store where s.name = p_store;
            return query with raw as (
                select i.id, i.approved,
                    case
                        when i.pinned then 1
                        when hours * ln(0.995::float8) < ln(1e-9::float8) then 0
                        else exp(hours * ln(0.995::float8))
                    end as recency,
                    least(greatest(i.importance + i.marks * 0.5, 0), 10) / 10 as importance,
                    coalesce(
                        least(greatest(-(v.embedding OPERATOR(EXT.<#>) p_query), -1), 1), 0
                    ) as relevance
                from workbench.items i
                left join workbench.vectors v on v.store = searched.store
                    and v.model = searched.model and v.hash = i.hash
                cross join lateral (
                    select greatest(extract(epoch from now() - i.accessed)::float8, 0) / 3600
                ) since (hours)
                where i.store = searched.store and i.created <= now()
            ), bounds as (
                select min(recency) as recency, max(recency) - min(recency) as recencies,
                    min(importance) as importance, max(importance) - min(importance) as importances,
                    min(relevance) as relevance, max(relevance) - min(relevance) as relevances
                from raw
            ), mapped as (
                select r.id, r.approved,
                    case when recencies > 1e-12
                        then (r.recency - b.recency) / recencies else 0.5 end as recency,
                    case when importances > 1e-12
                        then (r.importance - b.importance) / importances else 0.5 end as importance,
                    case when relevances > 1e-12
                        then (r.relevance - b.relevance) / relevances else 0.5 end as relevance
                from raw r cross join bounds b
            ), best as (
                select *, recency / 3 + importance / 3 + relevance / 3 as score
                from mapped order by score desc, id collate "C" limit p_k
            )
            select id, (
                    select i.text from workbench.items i
                    where i.store = searched.store and i.id = best.id
                ), approved, score, recency, importance, relevance
            from best order by score desc, id collate "C";
        end $$;

        revoke all on function add_vectors, drop_vectors, search_memories from public;
    $sql$, 'EXT', ext);
end $outer$;

revoke all on all functions in schema workbench from public;
