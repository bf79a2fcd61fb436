! A star cluster as an object, for Fortran programs: nbody6.h in Fortran. Link libnbody6.
!
!   use nbody6
!   type(nb6_cluster) :: cluster
!   if (nb6_create(cluster) /= NB6_OK) stop 'no memory'
!   if (nb6_set(cluster, 'ETAI', '0.01') /= NB6_OK) stop 'bad value'         ! any namelist variable, or KZ(14)
!   if (nb6_set_bodies(cluster, mass, x, v) /= NB6_OK) print *, nb6_message(cluster)
!   if (nb6_evolve(cluster, 1d0) /= NB6_OK) print *, nb6_message(cluster)
!   if (nb6_get_bodies(cluster, mass=mass, x=x, v=v) /= NB6_OK) print *, nb6_message(cluster)
!   call nb6_free(cluster)
!
! Units: N-body (Henon) units, G = 1. Functions return a status, 0 is success; nb6_message has the error. Nothing prints
! and nothing stops the program.
module nbody6
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_f_pointer, c_int, c_int64_t, c_loc, c_null_char, c_null_ptr, &
                                         c_ptr, c_size_t, c_associated
  implicit none
  private

  ! Statuses of nbc.h.
  integer, parameter, public :: NB6_OK = 0, NB6_BAD_ARGUMENT = 2, NB6_NO_MEMORY = 3, NB6_NON_FINITE = 4, &
                                NB6_BAD_STATE = 5, NB6_BAD_INPUT = 6, NB6_ENERGY_ERROR = 7, NB6_FILE = 8, &
                                NB6_DEVICE = 9, NB6_UNAVAILABLE = 10, NB6_INTERNAL = 11

  ! One cluster. Two copies are the same cluster: freeing one of them frees both, and calls with the other are refused
  ! then.
  type, public :: nb6_cluster
    private
    integer(c_int64_t) :: object = 0 ! its number, 0: none
  end type nb6_cluster

  ! Tidal: external potential energy in the rotating frame, where the total is Jacobi's integral.
  type, public :: nb6_energy
    real(c_double) :: kinetic, potential, tidal, total
    real(c_double) :: virial_ratio
    real(c_double) :: angular_momentum(3)
    real(c_double) :: centre_x(3), centre_v(3)
    real(c_double) :: mass
  end type nb6_energy

  public :: nb6_create, nb6_free, nb6_message, nb6_set, nb6_set_bodies, nb6_evolve, nb6_get_bodies, nb6_get_energy, &
            nb6_checkpoint, nb6_restore, nb6_time, nb6_count, nb6_stopped, nb6_make_model, nb6_add_bodies, &
            nb6_remove_bodies, nb6_time_of_change, nb6_set_masses, nb6_get_field

  interface
    integer(c_int64_t) function c_create() bind(c, name='nb6_fortran_create')
      import :: c_int64_t
    end function c_create

    subroutine c_free(cluster) bind(c, name='nb6_fortran_free')
      import :: c_int64_t
      integer(c_int64_t), value :: cluster
    end subroutine c_free

    type(c_ptr) function c_message(cluster) bind(c, name='nb6_fortran_message')
      import :: c_int64_t, c_ptr
      integer(c_int64_t), value :: cluster
    end function c_message

    integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function c_strlen

    integer(c_int) function c_bad_shape(cluster, n) bind(c, name='nb6_fortran_bad_shape')
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: cluster
      integer(c_int64_t), value :: n
    end function c_bad_shape

    integer(c_int) function c_set(cluster, name, value) bind(c, name='nb6_fortran_set')
      import :: c_char, c_int, c_int64_t
      integer(c_int64_t), value :: cluster
      character(kind=c_char), intent(in) :: name(*), value(*)
    end function c_set

    integer(c_int) function c_set_bodies(cluster, n, name, mass, x, v) bind(c, name='nb6_fortran_set_bodies')
      import :: c_double, c_int, c_int64_t, c_ptr
      integer(c_int64_t), value :: cluster
      type(c_ptr), value :: name
      integer(c_int64_t), value :: n
      real(c_double), intent(in) :: mass(*), x(3, *), v(3, *)
    end function c_set_bodies

    type(c_ptr) function c_config(cluster) bind(c, name='nb6_fortran_config')
      import :: c_int64_t, c_ptr
      integer(c_int64_t), value :: cluster
    end function c_config

    type(c_ptr) function c_error(cluster) bind(c, name='nb6_fortran_error')
      import :: c_int64_t, c_ptr
      integer(c_int64_t), value :: cluster
    end function c_error

    integer(c_int) function c_make(config, model, n, name, mass, x, v, err) bind(c, name='nb6_fortran_model_make')
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: config, err
      type(c_ptr), intent(inout) :: model, name, mass, x, v
      integer(c_int64_t), intent(inout) :: n
    end function c_make

    subroutine c_free_model(model) bind(c, name='nb6_fortran_model_free')
      import :: c_ptr
      type(c_ptr), value :: model
    end subroutine c_free_model

    integer(c_int) function c_add_bodies(cluster, n, name, mass, x, v) bind(c, name='nb6_fortran_add_bodies')
      import :: c_double, c_int, c_int64_t, c_ptr
      integer(c_int64_t), value :: cluster
      type(c_ptr), value :: name
      integer(c_int64_t), value :: n
      real(c_double), intent(in) :: mass(*), x(3, *), v(3, *)
    end function c_add_bodies

    integer(c_int) function c_remove_bodies(cluster, n, name) bind(c, name='nb6_fortran_remove_bodies')
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: cluster
      integer(c_int64_t), value :: n
      integer(c_int64_t), intent(in) :: name(*)
    end function c_remove_bodies

    integer(c_int) function c_set_masses(cluster, n, name, mass, v, sudden) bind(c, name='nb6_fortran_set_masses')
      import :: c_double, c_int, c_int64_t, c_ptr
      integer(c_int64_t), value :: cluster
      integer(c_int64_t), value :: n
      integer(c_int64_t), intent(in) :: name(*)
      real(c_double), intent(in) :: mass(*)
      type(c_ptr), value :: v
      integer(c_int), value :: sudden
    end function c_set_masses

    integer(c_int) function c_get_field(cluster, n, x, potential, acc, galaxy_potential, galaxy_acc) &
      bind(c, name='nb6_fortran_get_field')
      import :: c_double, c_int, c_int64_t, c_ptr
      integer(c_int64_t), value :: cluster
      integer(c_int64_t), value :: n
      real(c_double), intent(in) :: x(3, *)
      type(c_ptr), value :: potential, acc, galaxy_potential, galaxy_acc
    end function c_get_field

    real(c_double) function c_time_of_change(t) bind(c, name='nb6_time_of_change')
      import :: c_double
      real(c_double), value :: t
    end function c_time_of_change

    integer(c_int) function c_evolve(cluster, t) bind(c, name='nb6_fortran_evolve')
      import :: c_double, c_int, c_int64_t
      integer(c_int64_t), value :: cluster
      real(c_double), value :: t
    end function c_evolve

    integer(c_int) function c_get_bodies(cluster, n, name, mass, x, v) bind(c, name='nb6_fortran_get_bodies')
      import :: c_int, c_int64_t, c_ptr
      integer(c_int64_t), value :: cluster
      type(c_ptr), value :: name, mass, x, v
      integer(c_int64_t), value :: n
    end function c_get_bodies

    integer(c_int) function c_get_energy(cluster, energy) bind(c, name='nb6_fortran_get_energy')
      import :: c_double, c_int, c_int64_t
      integer(c_int64_t), value :: cluster
      real(c_double), intent(inout) :: energy(15)
    end function c_get_energy

    integer(c_int) function c_checkpoint(cluster, path) bind(c, name='nb6_fortran_checkpoint')
      import :: c_char, c_int, c_int64_t
      integer(c_int64_t), value :: cluster
      character(kind=c_char), intent(in) :: path(*)
    end function c_checkpoint

    integer(c_int) function c_restore(cluster, path) bind(c, name='nb6_fortran_restore')
      import :: c_char, c_int, c_int64_t
      integer(c_int64_t), value :: cluster
      character(kind=c_char), intent(in) :: path(*)
    end function c_restore

    real(c_double) function c_time(cluster) bind(c, name='nb6_fortran_time')
      import :: c_double, c_int64_t
      integer(c_int64_t), value :: cluster
    end function c_time

    integer(c_int64_t) function c_count(cluster) bind(c, name='nb6_fortran_count')
      import :: c_int64_t
      integer(c_int64_t), value :: cluster
    end function c_count

    integer(c_int) function c_stopped(cluster) bind(c, name='nb6_fortran_stopped')
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: cluster
    end function c_stopped
  end interface

contains

  ! An empty cluster with the default of every option. Frees the previous content of `cluster`.
  integer function nb6_create(cluster) result(status)
    type(nb6_cluster), intent(inout) :: cluster
    call nb6_free(cluster)
    cluster%object = c_create()
    status = merge(NB6_OK, NB6_NO_MEMORY, cluster%object /= 0)
  end function nb6_create

  ! Gives all memory back. The cluster can be created anew then.
  subroutine nb6_free(cluster)
    type(nb6_cluster), intent(inout) :: cluster
    call c_free(cluster%object)
    cluster%object = 0
  end subroutine nb6_free

  ! Message of the last failing call.
  function nb6_message(cluster) result(text)
    type(nb6_cluster), intent(in) :: cluster
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    type(c_ptr) :: message
    integer :: k
    message = c_message(cluster%object)
    call c_f_pointer(message, letters, [c_strlen(message)])
    allocate (character(size(letters)) :: text)
    do k = 1, size(letters)
      text(k:k) = letters(k)
    end do
  end function nb6_message

  ! Set one variable by its namelist name, as it would be written in a file, before there are stars: ('ETAI', '0.02').
  ! `nbody6 --help-input` lists the names. Stars come from nb6_set_bodies, or, by the variables of models, from
  ! nb6_make_model.
  integer function nb6_set(cluster, name, value) result(status)
    type(nb6_cluster), intent(inout) :: cluster
    character(*), intent(in) :: name, value
    status = c_set(cluster%object, trim(name)//c_null_char, trim(value)//c_null_char)
  end function nb6_set

  ! All stars at t = 0; their forces are started. x, v: (3, n). name: (n) different and positive; without it: 1 to n.
  integer function nb6_set_bodies(cluster, mass, x, v, name) result(status)
    type(nb6_cluster), intent(inout) :: cluster
    real(c_double), intent(in), contiguous :: mass(:), x(:, :), v(:, :)
    integer(c_int64_t), intent(in), contiguous, target, optional :: name(:)
    integer(c_int64_t) :: n
    type(c_ptr) :: names
    n = size(mass, kind=c_int64_t)
    if (.not. are_stars(n, x, v, names, name)) then
      status = c_bad_shape(cluster%object, n)
      return
    end if
    status = c_set_bodies(cluster%object, n, names, mass, x, v)
  end function nb6_set_bodies

  ! The stars that the variables describe, as `nbody6` itself would make or read them: a Plummer sphere of N stars with
  ! NRAND as seed, masses by KZ(20), the file of DATA, ... In place of nb6_set_bodies.
  integer function nb6_make_model(cluster) result(status)
    type(nb6_cluster), intent(inout) :: cluster
    type(c_ptr) :: config, model, p_name, p_mass, p_x, p_v
    real(c_double), pointer :: mass(:), x(:, :), v(:, :)
    integer(c_int64_t) :: n
    status = NB6_BAD_STATE
    config = c_config(cluster%object)
    if (.not. c_associated(config)) return
    status = c_make(config, model, n, p_name, p_mass, p_x, p_v, c_error(cluster%object))
    if (status /= NB6_OK) return
    call c_f_pointer(p_mass, mass, [n])
    call c_f_pointer(p_x, x, [3_c_int64_t, n])
    call c_f_pointer(p_v, v, [3_c_int64_t, n])
    status = c_set_bodies(cluster%object, n, p_name, mass, x, v)
    call c_free_model(model)
  end function nb6_make_model

  ! Add stars to the existing ones. All forces and chains begin anew, so that many are best added at once; at times of
  ! nb6_time_of_change that costs least. x, v: (3, n). name: (n) of no existing star;
  ! without it: numbers above all earlier ones.
  integer function nb6_add_bodies(cluster, mass, x, v, name) result(status)
    type(nb6_cluster), intent(inout) :: cluster
    real(c_double), intent(in), contiguous :: mass(:), x(:, :), v(:, :)
    integer(c_int64_t), intent(in), contiguous, target, optional :: name(:)
    integer(c_int64_t) :: n
    type(c_ptr) :: names
    n = size(mass, kind=c_int64_t)
    if (.not. are_stars(n, x, v, names, name)) then
      status = c_bad_shape(cluster%object, n)
      return
    end if
    status = c_add_bodies(cluster%object, n, names, mass, x, v)
  end function nb6_add_bodies

  ! Stars that go, by their names.
  integer function nb6_remove_bodies(cluster, name) result(status)
    type(nb6_cluster), intent(inout) :: cluster
    integer(c_int64_t), intent(in), contiguous :: name(:)
    status = c_remove_bodies(cluster%object, size(name, kind=c_int64_t), name)
  end function nb6_remove_bodies

  ! Stars get new masses, by their names: suddenly, with new velocities if v is there, (3, n); or, without v, slowly, as
  ! pairs of them widen over many orbits.
  integer function nb6_set_masses(cluster, name, mass, sudden, v) result(status)
    type(nb6_cluster), intent(inout) :: cluster
    integer(c_int64_t), intent(in), contiguous :: name(:)
    real(c_double), intent(in), contiguous :: mass(:)
    logical, intent(in) :: sudden
    real(c_double), intent(in), contiguous, target, optional :: v(:, :)
    integer(c_int64_t) :: n
    logical :: fits
    type(c_ptr) :: p_v
    n = size(mass, kind=c_int64_t)
    fits = size(name, kind=c_int64_t) == n
    p_v = c_null_ptr
    if (present(v)) fits = fits .and. is_3_by_n(v, n)
    if (.not. fits) then
      status = c_bad_shape(cluster%object, n)
      return
    end if
    if (present(v) .and. n > 0) p_v = c_loc(v)
    status = c_set_masses(cluster%object, n, name, mass, p_v, merge(1_c_int, 0_c_int, sudden))
  end function nb6_set_masses

  ! Potential, for unit mass, and acceleration at points x, (3, n), now: of all stars, and of the galaxy on a body at
  ! rest. acc, galaxy_acc: (3, n). Any of the results may be left out.
  integer function nb6_get_field(cluster, x, potential, acc, galaxy_potential, galaxy_acc) result(status)
    type(nb6_cluster), intent(inout) :: cluster
    real(c_double), intent(in), contiguous :: x(:, :)
    real(c_double), intent(inout), contiguous, target, optional :: potential(:), acc(:, :), galaxy_potential(:), &
                                                                   galaxy_acc(:, :)
    type(c_ptr) :: p_potential, p_acc, p_galaxy_potential, p_galaxy_acc
    integer(c_int64_t) :: n
    logical :: fits
    n = size(x, 2, kind=c_int64_t)
    fits = size(x, 1) == 3
    if (present(potential)) fits = fits .and. size(potential, kind=c_int64_t) == n
    if (present(acc)) fits = fits .and. is_3_by_n(acc, n)
    if (present(galaxy_potential)) fits = fits .and. size(galaxy_potential, kind=c_int64_t) == n
    if (present(galaxy_acc)) fits = fits .and. is_3_by_n(galaxy_acc, n)
    if (.not. fits) then
      status = c_bad_shape(cluster%object, n)
      return
    end if
    p_potential = c_null_ptr
    p_acc = c_null_ptr
    p_galaxy_potential = c_null_ptr
    p_galaxy_acc = c_null_ptr
    if (n > 0) then
      if (present(potential)) p_potential = c_loc(potential)
      if (present(acc)) p_acc = c_loc(acc)
      if (present(galaxy_potential)) p_galaxy_potential = c_loc(galaxy_potential)
      if (present(galaxy_acc)) p_galaxy_acc = c_loc(galaxy_acc)
    end if
    status = c_get_field(cluster%object, n, x, p_potential, p_acc, p_galaxy_potential, p_galaxy_acc)
  end function nb6_get_field

  ! The first time not before t, a multiple of 2**(-14), at which stars that come and go cost least.
  real(c_double) function nb6_time_of_change(t)
    real(c_double), intent(in) :: t
    nb6_time_of_change = c_time_of_change(t)
  end function nb6_time_of_change

  ! Advance to time t.
  integer function nb6_evolve(cluster, t) result(status)
    type(nb6_cluster), intent(inout) :: cluster
    real(c_double), intent(in) :: t
    status = c_evolve(cluster%object, t)
  end function nb6_evolve

  ! The stars at the present time; any of the arrays may be left out, each holds nb6_count(cluster) stars.
  integer function nb6_get_bodies(cluster, mass, x, v, name) result(status)
    type(nb6_cluster), intent(inout) :: cluster
    real(c_double), intent(inout), contiguous, target, optional :: mass(:), x(:, :), v(:, :)
    integer(c_int64_t), intent(inout), contiguous, target, optional :: name(:)
    type(c_ptr) :: p_mass, p_x, p_v, p_name
    integer(c_int64_t) :: n
    logical :: fits
    n = nb6_count(cluster)
    fits = .true.
    p_mass = c_null_ptr
    p_x = c_null_ptr
    p_v = c_null_ptr
    p_name = c_null_ptr
    if (present(mass)) fits = fits .and. size(mass, kind=c_int64_t) == n
    if (present(name)) fits = fits .and. size(name, kind=c_int64_t) == n
    if (present(x)) fits = fits .and. is_3_by_n(x, n)
    if (present(v)) fits = fits .and. is_3_by_n(v, n)
    if (.not. fits) then
      status = c_bad_shape(cluster%object, n)
      return
    end if
    if (n > 0) then
      if (present(mass)) p_mass = c_loc(mass)
      if (present(name)) p_name = c_loc(name)
      if (present(x)) p_x = c_loc(x)
      if (present(v)) p_v = c_loc(v)
    end if
    status = c_get_bodies(cluster%object, n, p_name, p_mass, p_x, p_v)
  end function nb6_get_bodies

  ! Energies at the present time, a sum over all pairs.
  integer function nb6_get_energy(cluster, energy) result(status)
    type(nb6_cluster), intent(inout) :: cluster
    type(nb6_energy), intent(inout) :: energy
    real(c_double) :: flat(15)
    status = c_get_energy(cluster%object, flat)
    if (status /= NB6_OK) return
    energy = nb6_energy(kinetic=flat(1), potential=flat(2), tidal=flat(3), total=flat(4), virial_ratio=flat(5), &
                        angular_momentum=flat(6:8), centre_x=flat(9:11), centre_v=flat(12:14), mass=flat(15))
  end function nb6_get_energy

  ! Write all that is needed to continue bit for bit.
  integer function nb6_checkpoint(cluster, path) result(status)
    type(nb6_cluster), intent(inout) :: cluster
    character(*), intent(in) :: path
    status = c_checkpoint(cluster%object, trim(path)//c_null_char)
  end function nb6_checkpoint

  ! Continue from a checkpoint, with the options stored there. The cluster must have been created and have no stars.
  integer function nb6_restore(cluster, path) result(status)
    type(nb6_cluster), intent(inout) :: cluster
    character(*), intent(in) :: path
    status = c_restore(cluster%object, trim(path)//c_null_char)
  end function nb6_restore

  ! Time reached.
  real(c_double) function nb6_time(cluster)
    type(nb6_cluster), intent(in) :: cluster
    nb6_time = c_time(cluster%object)
  end function nb6_time

  ! Stars now.
  integer(c_int64_t) function nb6_count(cluster)
    type(nb6_cluster), intent(in) :: cluster
    nb6_count = c_count(cluster%object)
  end function nb6_count

  ! The last nb6_evolve ended before its time because an observer asked for it.
  logical function nb6_stopped(cluster)
    type(nb6_cluster), intent(in) :: cluster
    nb6_stopped = c_stopped(cluster%object) /= 0
  end function nb6_stopped

  logical function is_3_by_n(a, n)
    real(c_double), intent(in) :: a(:, :)
    integer(c_int64_t), intent(in) :: n
    is_3_by_n = size(a, 1) == 3 .and. size(a, 2, kind=c_int64_t) == n
  end function is_3_by_n

  ! Whether arrays are those of n stars. names: where they are, null without them.
  logical function are_stars(n, x, v, names, name)
    integer(c_int64_t), intent(in) :: n
    real(c_double), intent(in) :: x(:, :), v(:, :)
    type(c_ptr), intent(out) :: names
    integer(c_int64_t), intent(in), contiguous, target, optional :: name(:)
    are_stars = is_3_by_n(x, n) .and. is_3_by_n(v, n)
    names = c_null_ptr
    if (.not. present(name)) return
    are_stars = are_stars .and. size(name, kind=c_int64_t) == n
    if (n > 0) names = c_loc(name)
  end function are_stars
end module nbody6
